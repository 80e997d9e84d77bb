"""The learner thought: A number has 8 bytes."""

MISCONCEPTION = "half-intensity"
TELL = "Half of it is what 8 bytes a number give (a float32 has 4), or one operation for a product with its sum (they are two, although one instruction may do both)."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 24 * n),
        "dot": (2 * n, 16 * n),
        "polynomial": (18 * n, 16 * n),
        "matvec": (2 * n**2, 8 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 24 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
