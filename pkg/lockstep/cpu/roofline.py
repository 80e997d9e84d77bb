"""The roofline: how fast can a kernel be at most, given what it computes and what it moves?

Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
CACM 2009.

    W   floating-point operations               P   the device's peak, FLOP/s
    Q   bytes to and from memory                B   the device's memory bandwidth, bytes/s
    I = W/Q   arithmetic intensity, FLOP/byte   ridge point P/B: from here on a kernel can reach the peak

                     FLOP/s    |        ________ P
                               |      /
                               |    /  slope B       attainable = min(P, I·B)
                               |__/________________ I
"""

from __future__ import annotations

import math

from lockstep.machines import Device


def roofline(flops: float, nbytes: float, device: Device) -> tuple[float, str]:
    """(FLOP/s that a float32 kernel can reach at most, "memory" or "compute": what limits it).

    ``flops`` operations, ``nbytes`` to and from memory; a kernel that moves nothing is limited by the peak.
    """
    peak = device.peak("float32")
    slanted = intensity(flops, nbytes) * device.memory_bandwidth
    return (slanted, "memory") if slanted < peak else (peak, "compute")


def intensity(flops: float, nbytes: float) -> float:
    """FLOP per byte; infinite for a kernel that moves nothing."""
    return flops / nbytes if nbytes else math.inf
