"""The learner thought: the coefficients are read."""

MISCONCEPTION = "counts-coefficients"
TELL = "It is what comes out if the ten coefficients count. They do not."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n + 40),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (f / b, "memory" if f / b < ridge else "compute") for name, (f, b) in counts.items()}
