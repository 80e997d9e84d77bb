"""Where tokens go: the routing of a layer of experts on ranks of the virtual cluster, as plain data for a figure."""

from __future__ import annotations

import torch
import torch.distributed as dist

from lockstep.experts.gate import TopKGate, limited
from lockstep.show.tokens_to_experts import Token
from lockstep.worlds import run


def routed(ranks: int = 4, tokens: int = 6, k: int = 1, factor: float | None = 1.0, seed: int = 4) -> list[Token]:
    """Run the gate, with an expert on each rank and ``tokens`` random tokens on each.

    ``factor`` is the capacity factor.
    """
    done = run(_route, tokens, k, factor, seed, ranks=ranks, on="dgx-a100")
    return [
        Token(rank, place, expert, kept)
        for rank, (experts, keeps) in enumerate(done.values)
        for place, (of_token, has_room) in enumerate(zip(experts, keeps, strict=True))
        for expert, kept in zip(of_token, has_room, strict=True)
    ]


def _route(tokens: int, k: int, factor: float | None, seed: int) -> tuple[list[list[int]], list[list[bool]]]:
    """On each rank: the experts of its tokens, and which of them have room."""
    gate = TopKGate(16, dist.get_world_size(), k, seed=seed)
    generator = torch.Generator().manual_seed(100 * seed + dist.get_rank())
    routing = limited(gate(torch.randn(tokens, 16, generator=generator)), factor)
    return routing.experts.tolist(), routing.kept.tolist()
