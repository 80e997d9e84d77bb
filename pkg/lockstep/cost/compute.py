"""What an operation costs on a device: the roofline model.

Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
CACM 2009.
"""

from __future__ import annotations

from lockstep.machines import Device


def op_time(device: Device, flops: float, nbytes: float, dtype: str = "float32") -> float:
    """Seconds for an operation of ``flops`` floating-point operations that moves ``nbytes`` to and from memory.

    The device computes while it loads and stores, so the slower of the two decides; the launch comes on top:

        max(flops / peak, nbytes / bandwidth) + launch overhead
    """
    return max(flops / device.peak(dtype), nbytes / device.memory_bandwidth) + device.launch_overhead


def ridge_point(device: Device, dtype: str = "float32") -> float:
    """FLOP per byte from which on ``device`` is kept busy computing, and not waiting for its memory."""
    return device.peak(dtype) / device.memory_bandwidth
