"""The learner thought: There are always bytes."""

MISCONCEPTION = "crashed:RankRaised"


def roofline(flops, nbytes, device):
    slope = flops / nbytes * device.memory_bandwidth
    peak = device.peak("float32")
    return min(slope, peak), "memory" if slope < peak else "compute"
