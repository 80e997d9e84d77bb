"""The learner thought: Intensity is bytes for each operation."""

MISCONCEPTION = "intensity-inverted"
TELL = "It is bytes per operation: turn it over."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (q / w, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
