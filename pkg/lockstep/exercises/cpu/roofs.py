"""Devices that are given by their two roofs alone, and the rate that a kernel can attain on them."""

from __future__ import annotations

import math

from lockstep.machines import Device


def device(peak: float, bandwidth: float) -> Device:
    """float64 at 1/32 of the rate: on some machines it is 1/2, on others 1/64."""
    rates = {"float32": peak, "float64": peak / 32}
    return Device("a device", rates, bandwidth, 16 * 10**9, 0.0, "Drawn for this exercise.")


def ridge(device: Device) -> float:
    return device.peak("float32") / device.memory_bandwidth


def attainable(flops: float, nbytes: float, device: Device) -> tuple[float, str]:
    """(FLOP/s at most, "memory" or "compute")."""
    slanted = flops / nbytes * device.memory_bandwidth if nbytes else math.inf
    return (slanted, "memory") if slanted < device.peak("float32") else (device.peak("float32"), "compute")
