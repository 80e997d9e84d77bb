"""The learner thought: A roof is the highest point."""

MISCONCEPTION = "takes-maximum"
TELL = "You take the higher of the two roofs; nobody can be faster than the lower one."


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return max(slope, peak), "memory" if slope < peak else "compute"
