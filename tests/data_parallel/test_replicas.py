"""Replicas that agree to the bit, and one that has left the others."""

import pytest
import torch
import torch.distributed as dist

from lockstep.data_parallel.replicas import fingerprint, one_alone, replicas_agree
from lockstep.models import mlp
from lockstep.worlds import run


def agree(odd: int | None) -> bool:
    model = mlp([3, 2], seed=4)
    if dist.get_rank() == odd:
        model[0].bias.data[1] = torch.nextafter(model[0].bias.data[1], torch.tensor(9.0))
    return replicas_agree(model.parameters())


@pytest.mark.sampled(6)
@pytest.mark.parametrize("on", ["laptop", "processes"])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_one_bit_of_one_rank_is_seen_by_all(K: int, on: str) -> None:
    assert run(agree, None, ranks=K, on=on).values == [True] * K
    assert run(agree, K - 1, ranks=K, on=on).values == [K == 1] * K


def test_it_costs_sixteen_bytes() -> None:
    trace = run(agree, 1, ranks=4, on="laptop").trace
    assert [(e.kind, e.nbytes) for e in trace.communication] == [("all_reduce", 16)] * 4


def test_a_fingerprint_sees_bits_and_not_numbers() -> None:
    matrix = torch.arange(6.0).view(2, 3)
    assert fingerprint([matrix]) == fingerprint([matrix.t().contiguous().t()])
    assert fingerprint([torch.tensor([0.0])]) != fingerprint([torch.tensor([-0.0])])
    assert fingerprint([torch.tensor(torch.nan)]) == fingerprint([torch.tensor(torch.nan)])
    assert fingerprint([torch.ones(2), torch.zeros(2)]) != fingerprint([torch.zeros(2), torch.ones(2)])
    assert fingerprint([torch.ones(2, dtype=torch.bfloat16), torch.ones(())]) < 2**56


@pytest.mark.slow
def test_the_odd_ones_loss_looks_like_the_others() -> None:
    rows = [[float(cell) for cell in row] for row in one_alone(ranks=4, steps=60, alone=2).rows]
    assert [rank for rank, *_ in rows] == [0, 1, 2, 3]
    assert all(last < first for _, first, last in rows)
