"""A roofline with kernels on it: what each could reach at most, what limits it, and how near it comes.

The formula is that of ``lockstep.cpu.roofline``. A machine may have several slanted roofs: one for each cache that the
data may lie in, and the lowest for main memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep.cpu.roofline import intensity
from lockstep.errors import UsageError


@dataclass(frozen=True)
class Kernel:
    """``flops`` operations, ``nbytes`` to and from memory, and the ``seconds`` it took, if it was measured."""

    name: str
    flops: float
    nbytes: float
    seconds: float | None = None

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

    def bound(self, kernel: Kernel) -> str:
        """What limits it, for data in main memory: "memory" or "compute"."""
        return "memory" if kernel.intensity < self.ridge(self.memory) else "compute"

    def share(self, kernel: Kernel) -> float | None:
        """Its rate, as a part of what it could reach with its data in main memory; above 1 a cache has helped."""
        return kernel.rate / self.attainable(kernel.intensity) if kernel.rate else None

    @cached_property
    def intensities(self) -> tuple[float, float]:
        """The range that is drawn: all kernels, all ridges, and some room."""
        shown = [k.intensity for k in self.kernels] + [self.ridge(place) for place in self.bandwidths]
        return min(shown) / 4, max(shown) * 4

    @cached_property
    def rates(self) -> tuple[float, float]:
        low = [self.attainable(self.intensities[0])] + [k.rate for k in self.kernels if k.rate]
        return min(low) / 1.5, self.peak * 2.2


def placed(kernels: Mapping[str, Sequence[float]]) -> tuple[Kernel, ...]:
    """From ``{"saxpy": (flops, nbytes, seconds)}`` or without the seconds."""
    for name, numbers in kernels.items():
        if len(numbers) not in (2, 3):
            raise UsageError(f"{name!r} is given as (flops, nbytes) or (flops, nbytes, seconds), not {numbers!r}.")
    return tuple(Kernel(name, *numbers) for name, numbers in kernels.items())
