"""The learner thought: A device computes at its peak."""

MISCONCEPTION = "always-peak"


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return peak, "memory" if slope < peak else "compute"
