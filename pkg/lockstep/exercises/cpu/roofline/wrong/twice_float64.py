"""The learner thought: float64 is half as fast as float32, as on a CPU."""

MISCONCEPTION = "twice-float64"
TELL = "You take twice the peak of float64: ask the device for that of float32."


def roofline(flops, nbytes, device):
    peak = 2 * device.peak("float64")
    if nbytes == 0:
        return peak, "compute"
    slanted = flops / nbytes * device.memory_bandwidth
    return (slanted, "memory") if slanted < peak else (peak, "compute")
