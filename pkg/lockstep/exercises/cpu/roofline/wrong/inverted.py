"""The learner thought: Intensity is bytes for each operation."""

MISCONCEPTION = "intensity-inverted"
TELL = "Your intensity is bytes per operation: it is operations per byte."


def roofline(flops, nbytes, device):
    peak = device.peak("float32")
    if not flops or not nbytes:
        return (0.0, "memory") if not flops else (peak, "compute")
    slope = nbytes / flops * device.memory_bandwidth
    return min(slope, peak), "memory" if flops / nbytes * device.memory_bandwidth < peak else "compute"
