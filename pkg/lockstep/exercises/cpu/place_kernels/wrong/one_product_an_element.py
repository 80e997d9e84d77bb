"""The learner thought: C has n² elements, and each takes a product and a sum."""

MISCONCEPTION = "wrong-operations"
TELL = "It is what 2n² operations give. C has n² elements, with n products and n sums each: 2n³ operations."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**2, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
