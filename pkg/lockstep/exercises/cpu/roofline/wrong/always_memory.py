"""The learner thought: the kernels of this unit are all limited by memory."""

MISCONCEPTION = "wrong-values"


def roofline(flops, nbytes, device):
    peak = device.peak("float32")
    return min(flops / nbytes * device.memory_bandwidth, peak) if nbytes else peak, "memory"
