"""The learner thought: The rate says it all."""

MISCONCEPTION = "wrong-type"


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return min(slope, peak)
