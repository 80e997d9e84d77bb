"""The learner thought: More intensity, more speed."""

MISCONCEPTION = "never-peak"
TELL = "Your slope goes on for ever: the peak is a roof, too."


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float32")
    return slope, "memory" if slope < peak else "compute"
