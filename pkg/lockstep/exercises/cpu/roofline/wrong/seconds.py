"""The learner thought: How fast means how long."""

MISCONCEPTION = "seconds"
TELL = "These are seconds: what the kernel takes. FLOP/s are wanted: what it can reach."


def roofline(flops, nbytes, device):
    computing = flops / device.peak("float32")
    moving = nbytes / device.memory_bandwidth
    return max(computing, moving), "memory" if moving > computing else "compute"
