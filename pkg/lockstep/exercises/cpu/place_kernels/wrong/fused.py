"""The learner thought: A fused multiply-add is one operation."""

MISCONCEPTION = "half-intensity"
TELL = "Half of it is what 8 bytes a number give (a float32 has 4), or one operation for a product with its sum (they are two, although one instruction may do both)."


def place_kernels(n, device):
    counts = {
        "saxpy": (n, 12 * n),
        "dot": (n, 8 * n),
        "polynomial": (9 * n, 8 * n),
        "matvec": (n**2, 4 * (n**2 + 2 * n)),
        "matmul": (n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
