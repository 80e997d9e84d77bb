"""The learner thought: A is a constant, so only x and y move."""

MISCONCEPTION = "forgets-matrix"
TELL = "It is what 12n bytes give. A has n² elements, and each is read."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 12 * n),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
