"""The learner thought: rates are told in GFLOP/s."""

MISCONCEPTION = "gigaflops"
TELL = "These are GFLOP/s: return FLOP/s."


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return min(slope, peak) / 1e9, "memory" if slope < peak else "compute"
