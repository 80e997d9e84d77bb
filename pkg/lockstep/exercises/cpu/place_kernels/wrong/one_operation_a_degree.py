"""The learner thought: Horner's rule takes a step for each degree."""

MISCONCEPTION = "wrong-operations"
TELL = "It is what one operation for each degree gives. Horner's rule takes a product and a sum for each of the 9."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (9 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
