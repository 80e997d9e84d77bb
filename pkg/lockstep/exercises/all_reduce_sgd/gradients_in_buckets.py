"""What can be said of gradients that travel in buckets: their order in the list, and buckets that hold too much or
nothing."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import collectives


def out_of_order(seen: Seen, wanted: Sequence[Sequence[Tensor]]) -> Fault | None:
    """Of a list with the right gradients in another order."""
    for rank, right in zip(seen.case.members, wanted, strict=True):
        held = seen.returned[rank]
        if not isinstance(held, list) or len(held) != len(right):
            return None
        places = [[j for j, want in enumerate(right) if _same(mine, want)] for mine in held]
        moved = next((n for n, at in enumerate(places) if n not in at), None)
        if moved is not None and all(places):
            told = f"element {moved} of rank {rank}'s list is the gradient of parameter {places[moved][0]}."
            order = "The gradients are right, and in another order than model.parameters()."
            return Fault("other-order", f"With {seen.case}: {told} {order}", telling=True)
    return None


def _same(mine: object, want: Tensor) -> bool:
    return isinstance(mine, Tensor) and mine.shape == want.shape and torch.allclose(mine, want)


def badly_filled(seen: Seen) -> list[Fault]:
    """Buckets that hold nothing; and, where layers fill one to the byte (``full``), buckets that hold more."""
    size = seen.case.settings["bucket_bytes"]
    for event in collectives(seen.trace, {"all_reduce"}) if seen.case.size > 1 else ():
        who = f"With {seen.case}: rank {event.rank}"
        if not event.nbytes:
            told = "all-reduces an empty tensor. The last bucket takes what is left: if nothing is, there is none."
            return [Fault("empty-bucket", f"{who} {told}")]
        if "full" in seen.case.settings and event.nbytes > size:
            told = f"sends a bucket of {event.nbytes:,} bytes. Two layers have {size:,}: with them the bucket is full."
            return [Fault("closes-too-late", f"{who} {told}")]
    return []
