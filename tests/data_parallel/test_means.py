"""The mean over unequal shares, and the mean of means."""

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.data_parallel import means
from lockstep.worlds import run

SIZES = (1, 0, 3)


def mean(name: str, sizes: tuple[int, ...]) -> Tensor:
    rows = torch.arange(2.0 * sum(sizes)).view(-1, 2)
    mine = torch.split(rows, sizes)[dist.get_rank()]
    result: Tensor = getattr(means, name)(mine)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("on", ["laptop", "processes"])
def test_each_row_counts_once(on: str) -> None:
    assert [held.tolist() for held in run(mean, "mend_mean_of_means", SIZES, ranks=3, on=on).values] == [[3.0, 4.0]] * 3


def test_the_mean_of_means_is_right_for_equal_shares_only() -> None:
    def of(*sizes: int) -> list[float]:
        return run(mean, "mean_of_means", sizes, ranks=len(sizes), on="laptop").values[0].tolist()

    assert of(2, 2) == [3.0, 4.0]
    assert of(1, 3) == [2.0, 3.0]
    assert of(4) == [3.0, 4.0]
    assert all(value != value for value in of(*SIZES))
