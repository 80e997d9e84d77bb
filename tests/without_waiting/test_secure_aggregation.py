"""Pairwise masks: they leave the sum and nothing else, and one who is missing spoils it."""

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.without_waiting.secure_aggregation import (
    M,
    Mask,
    decoded,
    encoded,
    masked,
    masked_sum,
    shared_secrets,
    sum_of_those_left,
    table_of_drop_outs,
)

VALUES = [torch.tensor([3, M - 1, 7 * rank, 0]) for rank in range(5)]
TRUE = torch.stack(VALUES).sum(0) % M


def program(values: list[Tensor], secrets: list[list[int | None]]) -> Tensor:
    rank = dist.get_rank()
    return masked_sum(values[rank], secrets[rank], Mask(tuple(values[0].shape)))


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_the_sum_is_right_on_every_rank(ranks: int) -> None:
    result = run(program, VALUES[:ranks], shared_secrets(ranks), ranks=ranks, on="dgx-a100")
    wanted = torch.stack(VALUES[:ranks]).sum(0) % M
    assert all(torch.equal(found, wanted) for found in result.values)
    assert {e.nbytes for e in result.trace.of_kind("all_reduce")} == {VALUES[0].nbytes}


def test_what_leaves_a_rank_may_be_any_value_s() -> None:
    """Whatever rank 0 leaves, there is a mask for which it would have been another value."""
    own = masked(VALUES[0], 0, shared_secrets(3)[0], Mask((4,)))
    assert ((own >= 0) & (own < M)).all()
    assert not (own == VALUES[0]).any()
    many = masked(torch.zeros(10_000, dtype=torch.int64), 0, shared_secrets(3)[0], Mask((10_000,)))
    quarters = torch.histc(many.double(), 4, 0, M)
    assert (quarters - 2500).abs().max() < 5 * (10_000 * 0.25 * 0.75) ** 0.5


def test_secrets_are_shared_by_two() -> None:
    secrets = shared_secrets(6)
    known = [secrets[i][j] for i in range(6) for j in range(i)]
    assert len(set(known)) == 15
    assert all(secrets[i][j] == secrets[j][i] for i in range(6) for j in range(6))
    assert all(secrets[i][i] is None for i in range(6))


@pytest.mark.parametrize("gone", [[4], [0, 2]])
def test_a_drop_out_leaves_its_masks_in_the_sum_until_the_others_tell_them(gone: list[int]) -> None:
    left = torch.stack([v for rank, v in enumerate(VALUES) if rank not in gone]).sum(0) % M
    assert torch.equal(sum_of_those_left(VALUES), TRUE)
    assert not (sum_of_those_left(VALUES, gone) == left).any()
    assert torch.equal(sum_of_those_left(VALUES, gone, repaired=True), left)


def test_real_numbers_come_back_from_a_sum() -> None:
    numbers = [torch.tensor([0.25, -1.5, 3e-5]), torch.tensor([-8.0, -0.25, 0.0])]
    total = torch.stack([encoded(x) for x in numbers]).sum(0) % M
    torch.testing.assert_close(decoded(total), torch.stack(numbers).sum(0).double(), rtol=0, atol=2**-16)


def test_the_table_tells_it() -> None:
    right, found = zip(
        *[(float(row[1]), float(row[2].replace(",", ""))) for row in table_of_drop_outs().rows], strict=True
    )
    assert right == (15, 10, 10)
    assert (found[0], found[2]) == (15, 10)
    assert abs(found[1] - 10) > 1
