"""Fractions that were cancelled on paper, and the time on both roofs."""


def place_kernels(n, device):
    found = {"matmul": n / 6, "matvec": n / (2 * n + 4), "polynomial": 9 / 4, "saxpy": 1 / 6, "dot": 1 / 4}
    for name, intensity in found.items():
        slow = intensity * device.memory_bandwidth <= device.peak("float32")
        found[name] = intensity, ("compute", "memory")[slow]
    return found
