"""Compare the time of computing with that of moving."""


def place_kernels(n, device):
    counts = {
        "saxpy": (2 * n, 12 * n),
        "dot": (2 * n, 8 * n),
        "polynomial": (18 * n, 8 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 12 * n**2),
    }
    placed = {}
    for name, (w, q) in counts.items():
        moving, computing = q / device.memory_bandwidth, w / device.peak("float32")
        placed[name] = (w / q, "memory" if moving > computing else "compute")
    return placed
