"""The learner thought: a device has one ridge, so it is computed once."""

MISCONCEPTION = "wrong-values"

ridges = []


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridges.append(device.peak("float32") / device.memory_bandwidth)
    ridge = ridges[0]
    return {name: (f / b, "memory" if f / b < ridge else "compute") for name, (f, b) in counts.items()}
