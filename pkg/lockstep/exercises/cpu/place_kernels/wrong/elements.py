"""The learner thought: Traffic is the number of elements."""

MISCONCEPTION = "elements-not-bytes"
TELL = "It is operations per element: bytes are wanted, and an element has 4."


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 3 * n),
        "dot": (2 * n, 2 * n),
        "polynomial": (18 * n, 2 * n),
        "matvec": (2 * n**2, n**2 + 2 * n),
        "matmul": (2 * n**3, 3 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
