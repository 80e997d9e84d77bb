"""Compare with the ridge point."""


def roofline(flops, nbytes, device):
    ridge = device.peak("float32") / device.memory_bandwidth
    if nbytes == 0 or flops / nbytes >= ridge:
        return device.peak("float32"), "compute"
    return flops / nbytes * device.memory_bandwidth, "memory"
