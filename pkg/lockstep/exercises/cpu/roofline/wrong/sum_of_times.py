"""The learner thought: First it loads, then it computes."""

MISCONCEPTION = "adds-times"
TELL = "You add the time of computing to the time of moving. They overlap: the longer one decides."


def roofline(flops, nbytes, device):
    computing = flops / device.peak("float32")
    moving = nbytes / device.memory_bandwidth
    if flops == 0:
        return 0.0, "memory"
    return flops / (computing + moving), "memory" if moving > computing else "compute"
