"""The learner thought: every product fetches a number of A and one of B, and C stays in registers."""

MISCONCEPTION = "no-reuse"
TELL = "It is what fetching two numbers for every product gives. Each element of A and B is to be counted once: the cache keeps it."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 8 * n**3),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
