"""The learner thought: The peak of the device is that of float64."""

MISCONCEPTION = "float64-peak"
TELL = "You take the peak of float64; float32 is wanted."


def roofline(flops, nbytes, device):
    intensity = flops / nbytes if nbytes else float("inf")
    slope = intensity * device.memory_bandwidth
    peak = device.peak("float64")
    return min(slope, peak), "memory" if slope < device.peak("float32") else "compute"
