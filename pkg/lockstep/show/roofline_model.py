"""A roofline with kernels on it: what each could reach at most, what limits it, and how near it comes.

The formula is that of ``lockstep.cpu.roofline``. A machine may have several slanted roofs: one for each cache that the
data may lie in, and the lowest for main memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lockstep.cpu.roofline import intensity
from lockstep.errors import UsageError


@dataclass(frozen=True)
class Kernel:
    """``flops`` operations, ``nbytes`` to and from memory, and the ``seconds`` it took, if it was measured. ``place``:
    where its data lie, one of the roofline's; by default the slowest."""

    name: str
    flops: float
    nbytes: float
    seconds: float | None = None
    place: str = ""

    def __post_init__(self) -> None:
        measured = () if self.seconds is None else (self.seconds,)
        if not all(math.isfinite(v) and v > 0 for v in (self.flops, self.nbytes, *measured)):
            raise UsageError(
                f"The kernel {self.name!r} has no place on a roofline: operations, bytes and seconds are above zero."
            )

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return intensity(self.flops, self.nbytes)

    @property
    def rate(self) -> float | None:
        """FLOP/s, as measured."""
        return self.flops / self.seconds if self.seconds else None


@dataclass(frozen=True)
class Roofline:
    """``peak`` in FLOP/s; ``bandwidths``: where the data lie → bytes/s; ``kernels`` to be placed."""

    peak: float
    bandwidths: Mapping[str, float]
    kernels: tuple[Kernel, ...] = ()

    def __post_init__(self) -> None:
        roofs = (self.peak, *self.bandwidths.values())
        if not self.bandwidths or not all(math.isfinite(v) and v > 0 for v in roofs):
            raise UsageError("A roofline has a peak in FLOP/s and at least one bandwidth in bytes/s, all above zero.")
        for kernel in self.kernels:
            if kernel.place and kernel.place not in self.bandwidths:
                raise UsageError(
                    f"The data of {kernel.name!r} lie in {kernel.place!r}, of which no bandwidth is given.",
                    f"Give one of {', '.join(self.bandwidths)}.",
                )

    @cached_property
    def memory(self) -> str:
        """The slowest place: where data lie that fit into no cache."""
        return min(self.bandwidths, key=lambda name: self.bandwidths[name])

    def ridge(self, place: str) -> float:
        """FLOP per byte at which the roof of ``place`` meets the peak."""
        return self.peak / self.bandwidths[place]

    def attainable(self, intensity: float, place: str = "") -> float:
        """FLOP/s at most, for data in ``place`` (by default the slowest)."""
        return min(self.peak, intensity * self.bandwidths[place or self.memory])

    def most(self, kernel: Kernel) -> float:
        """FLOP/s at most, for its data where they lie."""
        return self.attainable(kernel.intensity, kernel.place)

    def bound(self, kernel: Kernel) -> str:
        """What limits it, for its data where they lie: "memory" or "compute"."""
        return "memory" if kernel.intensity < self.ridge(kernel.place or self.memory) else "compute"

    def share(self, kernel: Kernel) -> float | None:
        """Its rate, as a part of what it could reach with its data where they lie; above 1 they lay nearer."""
        return kernel.rate / self.most(kernel) if kernel.rate else None

    @cached_property
    def intensities(self) -> tuple[float, float]:
        """The range that is drawn: all kernels, all ridges, and some room."""
        shown = [k.intensity for k in self.kernels] + [self.ridge(place) for place in self.bandwidths]
        return min(shown) / 4, max(shown) * 4

    @cached_property
    def rates(self) -> tuple[float, float]:
        low = [self.attainable(self.intensities[0])] + [k.rate for k in self.kernels if k.rate]
        return min(low) / 1.5, self.peak * 2.2


def placed(kernels: Mapping[str, Sequence[Any]]) -> tuple[Kernel, ...]:
    """From ``{"saxpy": (flops, nbytes, seconds, place)}``, or without the last or the last two."""
    for name, numbers in kernels.items():
        if len(numbers) not in (2, 3, 4):
            raise UsageError(
                f"{name!r} is given as (flops, nbytes), (flops, nbytes, seconds) or (flops, nbytes, seconds, place), "
                f"not {numbers!r}."
            )
    return tuple(Kernel(name, *numbers) for name, numbers in kernels.items())
