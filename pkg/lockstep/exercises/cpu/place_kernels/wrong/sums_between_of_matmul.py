"""The learner thought: an element of C takes n products with n - 1 sums between them."""

MISCONCEPTION = "wrong-operations"
TELL = "It is what n - 1 sums for n products give. A sum of n products counts as n products and n sums."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (n**2 * (2 * n - 1), 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
