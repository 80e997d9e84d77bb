"""The learner thought: x to the power of i takes i products."""

MISCONCEPTION = "wrong-operations"
TELL = "It is what 45 products and 9 sums give. By Horner's rule the powers of x cost nothing: 9 products and 9 sums."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (54 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
