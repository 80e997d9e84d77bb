"""Which rank's failure ends a run is no luck: the first in virtual time, although another one may have gone ahead."""

from __future__ import annotations

import time

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RankRaised

LONG = 10**9 // 4  # floats, which take milliseconds on a link


def test_an_error_that_comes_later_does_not_hide_an_earlier_one():
    """Rank 1 knows when its message will be there and goes on at once, while rank 0 is still on its way to its own
    error. It was rank 1's that was told."""

    def fn():
        if dist.get_rank() == 0:
            dist.isend(torch.empty(LONG), 1)
            time.sleep(1e-3)
            raise KeyError("early")
        dist.recv(torch.empty(LONG), 0)
        raise ValueError("late")

    with pytest.raises(RankRaised, match="rank 0 raised KeyError"):
        run(fn, ranks=2, on="dgx-a100", fake=True)
