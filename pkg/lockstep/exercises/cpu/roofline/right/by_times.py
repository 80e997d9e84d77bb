"""The longer of two times, as a rate."""


def roofline(flops, nbytes, device):
    times = {"memory": nbytes / device.memory_bandwidth, "compute": flops / device.peak("float32")}
    bound = max(times, key=times.get)
    return flops / times[bound], bound
