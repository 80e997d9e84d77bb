"""The learner thought: A device computes at its peak."""

MISCONCEPTION = "always-peak"
TELL = "You always answer the peak: where few operations come with many bytes, memory is the limit."


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return peak, "memory" if slope < peak else "compute"
