"""The learner thought: Left of the ridge it does little computing, so computing is the limit."""

MISCONCEPTION = "bounds-exchanged"
TELL = "The names are exchanged: left of the ridge it is the memory that limits."


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return min(slope, peak), "compute" if slope < peak else "memory"
