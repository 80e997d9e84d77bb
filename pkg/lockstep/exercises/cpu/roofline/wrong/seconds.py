"""The learner thought: How fast means how long."""

MISCONCEPTION = "seconds"


def roofline(flops, nbytes, device):
    computing = flops / device.peak("float32")
    moving = nbytes / device.memory_bandwidth
    return max(computing, moving), "memory" if moving > computing else "compute"
