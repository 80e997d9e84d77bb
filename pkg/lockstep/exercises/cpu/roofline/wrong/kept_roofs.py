"""The learner thought: the roofs are asked for once."""

MISCONCEPTION = "wrong-values"

roofs = []


def roofline(flops, nbytes, device):
    if not roofs:
        roofs.extend([device.peak("float32"), device.memory_bandwidth])
    peak, bandwidth = roofs
    if nbytes == 0:
        return peak, "compute"
    slanted = flops / nbytes * bandwidth
    return (slanted, "memory") if slanted < peak else (peak, "compute")
