"""The roofline model: the highest rate of a kernel, from the operations it computes and the bytes it moves.

Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
CACM 2009.

    W   floating-point operations               P   the device's peak, FLOP/s
    Q   bytes to and from memory                B   the device's memory bandwidth, bytes/s
    I = W/Q   arithmetic intensity, FLOP/byte   ridge point P/B: above it a kernel can reach the peak

                     FLOP/s    |        ________ P
                               |      /
                               |    /  slope B       attainable = min(P, I·B)
                               |__/________________ I
"""

from __future__ import annotations

import math

from lockstep.machines import Device


def roofline(flops: float, nbytes: float, device: Device) -> tuple[float, str]:
    """(the attainable FLOP/s of a float32 kernel, what limits it: "memory" or "compute").

    ``flops``: operations; ``nbytes``: bytes to and from memory. A kernel that moves nothing is limited by the peak.
    """
    peak = device.peak("float32")
    slanted = intensity(flops, nbytes) * device.memory_bandwidth
    return (slanted, "memory") if slanted < peak else (peak, "compute")


def intensity(flops: float, nbytes: float) -> float:
    """FLOP per byte; infinite for a kernel that moves nothing."""
    return flops / nbytes if nbytes else math.inf
