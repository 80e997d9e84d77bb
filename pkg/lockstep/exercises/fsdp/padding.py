"""Shards that are right but for their padding; and memory in which nobody finds a zero by chance."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.judge import Examine, Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain

WHY = "All that is no padding is right. torch.empty holds any numbers, here NaN: pad with zeros."


def strange_memory(fn: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """A watch: what ``fn`` returns, where torch.empty holds NaN."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    return plain(fn(*given))


def wrong_padding(layers: Callable[[Case], list[int]], wanted: Callable[[Case], list[tuple[Tensor, ...]]]) -> Examine:
    """A rule for ranks that return a shard of each of the ``layers``: whether padding is all that is wrong."""

    def examine(seen: Seen) -> Fault | None:
        wrong = ""
        for r, (rank, shards) in enumerate(zip(seen.case.members, wanted(seen.case), strict=True)):
            held = seen.returned[rank]
            for i, (N, want) in enumerate(zip(layers(seen.case), shards, strict=True)):
                own = min(max(0, N - r * len(want)), len(want))
                is_shard = isinstance(held, list) and len(held) == len(shards) and isinstance(held[i], Tensor)
                if not (is_shard and held[i].shape == want.shape and held[i].dtype == want.dtype):
                    return None
                if not torch.allclose(held[i][:own], want[:own], rtol=1e-5, atol=1e-5):
                    return None
                if held[i][own:].any() and not wrong:
                    wrong = f"rank {rank}'s shard of layer {i}, of {N:,} numbers, holds {held[i][own:].max():.4g} where"
        if not wrong:
            return None
        return Fault("padding-not-zero", f"With {seen.case}: {wrong} it is padding; 0 is wanted. {WHY}")

    return examine
