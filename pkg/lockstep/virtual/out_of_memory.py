"""The error of a rank that allocates more memory than its device has: what it held, by kind, and how to need less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lockstep.errors import OutOfMemory, RankState
from lockstep.places import Place

UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
REMEDIES: Mapping[str, str] = {
    "parameters": "divide them among ranks (fully_shard, tensor parallelism, a pipeline), or store them in bfloat16",
    "gradients": "divide them among ranks (ZeRO-2, fully_shard), or set them to None as soon as they are used",
    "optimizer state": "divide it among ranks (ZeRO-1, fully_shard), or choose an optimizer that keeps less",
    "activations": "take smaller micro-batches, or recompute them in the backward pass (torch.utils.checkpoint)",
    "buffers": "let go of what is not needed any more, and reuse a buffer instead of making another one",
}


def out_of_memory(
    rank: int, place: Place, held: Mapping[str, int], asked: int, limit: int, others: Sequence[RankState]
) -> OutOfMemory:
    """The error of ``rank``, which held ``held`` bytes by kind and allocated ``asked`` more, of ``limit``."""
    where = f" at {place}" if place.file else " before its function began"
    kinds = ", ".join(f"{kind} {size(nbytes)}" for kind, nbytes in held.items() if nbytes) or "nothing"
    told = (
        f"rank {rank} ran out of memory{where}: it held {size(sum(held.values()))} and asked for {size(asked)} more; "
        f"its device has {size(limit)}. It held: {kinds}."
    )
    most = max(held, key=lambda kind: held[kind])
    part = "Most of it is" if 2 * held[most] > sum(held.values()) else "The largest part of it is"
    remedy = f"{part} {most}: {REMEDIES[most]}." if held[most] else "Make smaller tensors."
    mine = RankState(rank, "computing", f"asked for {size(asked)}", str(place), place.source)
    return OutOfMemory(told, sorted([mine, *others], key=lambda s: s.rank), remedy=remedy)


def size(nbytes: int) -> str:
    """A size in powers of ten, as vendors state memory, with one decimal, so that sums can be checked."""
    scale, unit = next((u for u in UNITS if nbytes >= u[0]), (1, "bytes"))
    return f"{nbytes / scale:,.1f} {unit}" if scale > 1 else f"{nbytes} bytes"
