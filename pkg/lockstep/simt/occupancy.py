"""Occupancy: how many warps are resident on one streaming multiprocessor (SM), and which resource limits them.

A warp that waits for memory costs nothing as long as another one can issue: an SM switches between its resident warps
from one cycle to the next. A block becomes resident as a whole, with all its threads, registers and shared memory; the
resource that runs out first limits how many blocks fit. Occupancy is the share of the SM's warp slots that are used.

Limits by compute capability: NVIDIA, "CUDA C++ Programming Guide", table "Technical Specifications per Compute
Capability". Registers are given out to warps in units of 256, shared memory to blocks in units of 128 bytes (from 8.0
on, each block takes one more KiB for the system).
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.errors import UsageError

WARP = 32
LARGEST_BLOCK = 1024  # threads, on every GPU so far
REGISTER_UNIT = 256  # of a warp
SHARED_UNIT = 128  # bytes
KIB = 1024


@dataclass(frozen=True)
class SM:
    """The resources of one streaming multiprocessor."""

    name: str
    warps: int
    blocks: int
    registers: int  # of 32 bits
    shared_bytes: int
    reserved_bytes: int  # of each block, for the system


SMS = {
    "7.5": SM("T4, RTX 20", 32, 16, 65_536, 64 * KIB, 0),
    "8.0": SM("A100", 64, 32, 65_536, 164 * KIB, KIB),
    "8.6": SM("RTX 30", 48, 16, 65_536, 100 * KIB, KIB),
    "8.9": SM("RTX 40, L4", 48, 24, 65_536, 100 * KIB, KIB),
    "9.0": SM("H100, H200", 64, 32, 65_536, 228 * KIB, KIB),
}


@dataclass(frozen=True)
class Occupancy:
    """``blocks`` and ``warps`` resident on one SM; ``limits`` is the number of blocks that each resource allows."""

    blocks: int
    warps: int
    share: float  # of the SM's places for warps, 0 to 1
    limits: dict[str, int]

    @property
    def limited_by(self) -> str:
        """The resource that runs out first."""
        return min(self.limits, key=lambda resource: self.limits[resource])


def occupancy(threads: int, registers: int = 32, shared_bytes: int = 0, capability: str = "8.0") -> Occupancy:
    """Occupancy of blocks of ``threads`` threads that use ``registers`` registers each, and ``shared_bytes`` a block.

    Raises UsageError for a block that no GPU takes, or an unknown compute capability.
    """
    if capability not in SMS:
        raise UsageError(f"There is no compute capability {capability!r} here.", f"Take one of {', '.join(SMS)}.")
    if not 1 <= threads <= LARGEST_BLOCK:
        raise UsageError(f"A block has 1 to {LARGEST_BLOCK:,} threads, not {threads:,}.", "Take more blocks instead.")
    if not 1 <= registers <= 255:
        raise UsageError(f"A thread has 1 to 255 registers, not {registers}.", "What is more is kept in memory.")
    sm, warps = SMS[capability], -(-threads // WARP)
    limits = {
        "warps": sm.warps // warps,
        "blocks": sm.blocks,
        "registers": sm.registers // (_rounded(registers * WARP, REGISTER_UNIT) * warps),
        "shared memory": sm.shared_bytes // max(1, _rounded(shared_bytes, SHARED_UNIT) + sm.reserved_bytes),
    }
    if not shared_bytes:
        del limits["shared memory"]
    blocks = min(limits.values())
    return Occupancy(blocks, blocks * warps, blocks * warps / sm.warps, limits)


def _rounded(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit
