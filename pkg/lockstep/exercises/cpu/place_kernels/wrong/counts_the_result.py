"""The learner thought: the result of a dot product is written."""

MISCONCEPTION = "counts-the-result"
TELL = "It is what comes out if the result of dot counts. It is one number, and does not count."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n + 4),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (f / b, "memory" if f / b < ridge else "compute") for name, (f, b) in counts.items()}
