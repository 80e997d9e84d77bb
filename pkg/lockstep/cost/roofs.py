"""Three roofs: a step can be no faster than its FLOPs, its bytes of memory, and its bytes over the network allow.

    seconds >= max( FLOPs / peak,  memory bytes / memory bandwidth,  network bytes / network bandwidth )

The slowest of the three is what bounds it, if all three overlap; if nothing overlaps, the sum is. A real step lies
between. What divides FLOPs by bytes are *ridges*: a GPU of 312 TFLOP/s and 2.04 TB/s needs 153 FLOP for each byte of
memory that it reads.

Source: Williams, Waterman, Patterson, "Roofline", CACM 2009, for two of them; the third is the same sum for the network
(Austin et al., "How to scale your model", part 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.errors import UsageError

ROOFS = ("compute", "memory", "network")


@dataclass(frozen=True)
class Roofs:
    """What a device reaches at most: FLOP/s, and bytes/s of its memory and of its way to the others."""

    compute: float
    memory: float
    network: float

    def __post_init__(self) -> None:
        if not min(self.compute, self.memory, self.network) > 0:
            raise UsageError("A device has FLOP/s, and bytes/s of memory and network, all above zero.")


@dataclass(frozen=True)
class Work:
    """A step of one device: FLOPs, bytes of its memory that it reads and writes, bytes that it sends."""

    name: str
    flops: float
    nbytes: float
    sent: float = 0.0

    def seconds(self, roofs: Roofs) -> dict[str, float]:
        """How long it takes under each roof alone."""
        amounts = zip(ROOFS, (self.flops, self.nbytes, self.sent), strict=True)
        return {roof: amount / getattr(roofs, roof) for roof, amount in amounts}

    def bound(self, roofs: Roofs) -> str:
        """The roof that it meets first: "compute", "memory" or "network". Of equal ones, the first of these."""
        seconds = self.seconds(roofs)
        return max(ROOFS, key=lambda roof: seconds[roof])

    def at_least(self, roofs: Roofs) -> float:
        """Seconds, if all three overlap."""
        return max(self.seconds(roofs).values())

    def at_most(self, roofs: Roofs) -> float:
        """Seconds under the roofs, if nothing overlaps."""
        return sum(self.seconds(roofs).values())
