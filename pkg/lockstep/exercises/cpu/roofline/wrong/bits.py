"""The learner thought: a bandwidth is in bits a second."""

MISCONCEPTION = "bits-not-bytes"
TELL = "Your slope is 8 times as steep: the bandwidth is in bytes a second, and nbytes are bytes."


def roofline(flops, nbytes, device):
    intensity = flops / (nbytes / 8) if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return min(slope, peak), "memory" if slope < peak else "compute"
