"""The worker that learners write, on all kinds of streams: its gradients are those of one rank."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.comm.backend_rules import NCCL, RENDEZVOUS, Rules
from lockstep.pipeline.drawn_schedule import drawing, streams_of
from lockstep.pipeline.instructions import Pair, from_pairs, orders, pairs, triples
from lockstep.pipeline.schedules import stream, streams
from lockstep.pipeline.stages import chunk
from lockstep.pipeline.worker import pipeline_worker
from lockstep.worlds import run

WIDTHS = (5, 6, 3, 7, 4)
STRICT = replace(NCCL, eager=-1)


def apart(streams: list[list[Pair]], examples: int) -> float:
    """On a rank: how far its gradients are from one rank's."""
    stage, stages = dist.get_rank(), dist.get_world_size()
    m = sum(kind == "F" for kind, _ in streams[stage])
    dice = torch.Generator().manual_seed(1)
    x = torch.randn(m, examples, WIDTHS[0], generator=dice)
    target = torch.randn(m, examples, WIDTHS[stages], generator=dice)
    module = chunk(WIDTHS, range(stage, stage + 1))
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    mine = pipeline_worker(
        module,
        streams[stage],
        list(x) if stage == 0 else [],
        list(target) if stage == stages - 1 else [],
        F.mse_loss,
        (examples, WIDTHS[stage]),
    )
    whole = [chunk(WIDTHS, range(s, s + 1)) for s in range(stages)]
    F.mse_loss(torch.nn.Sequential(*whole)(x.flatten(0, 1)), target.flatten(0, 1)).backward()
    wanted = [p.grad for p in whole[stage].parameters() if p.grad is not None]
    return max((a - b).abs().max().item() for a, b in zip(mine, wanted, strict=True))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("rules", [RENDEZVOUS, STRICT], ids=["rendezvous", "strict"])
@pytest.mark.parametrize(("p", "m"), [(1, 3), (2, 1), (2, 3), (3, 5), (4, 2)])
def test_gradients_are_those_of_one_rank(p: int, m: int, rules: Rules) -> None:
    for name in ("naive", "gpipe", "one_f_one_b"):
        given = [pairs(of_stage) for of_stage in streams(name, p, m)]
        assert max(run(apart, given, 5, ranks=p, on="dgx-a100", rules=rules).values) < 1e-6
    drawn = streams_of(drawing(p, m, 2))
    assert max(run(apart, drawn, 5, ranks=p, on="dgx-a100", rules=rules).values) < 1e-6


def test_on_processes() -> None:
    given = [pairs(of_stage) for of_stage in streams("one_f_one_b", 2, 3)]
    assert max(run(apart, given, 5, ranks=2, on="processes").values) < 1e-6


def test_pairs_and_instructions() -> None:
    given = stream("one_f_one_b", 1, 3, 2)
    assert orders(given) == [("F", 0), ("F", 1), ("B", 0), ("B", 1)]
    assert from_pairs(pairs(given)) == given[:-1], "all but the update"
    assert triples(stream("interleaved", 1, 2, 4, 2))[:3] == [("F", 0, 0), ("F", 1, 0), ("F", 0, 1)]
