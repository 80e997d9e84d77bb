"""The learner thought: A matrix product is limited by computing, everything else by memory."""

MISCONCEPTION = "wrong-values"


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    return {name: (w / q, "compute" if name == "matmul" else "memory") for name, (w, q) in counts.items()}
