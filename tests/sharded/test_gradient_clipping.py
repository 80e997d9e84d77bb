"""The given program changes a gradient's direction, and the mended one does not."""

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.sharded.gradient_clipping import local_clipping, mend_local_clipping


def clipped(program, max_norm):
    return program([torch.tensor([3.0 + dist.get_rank()])], max_norm)


def test_the_numbers_in_its_docstring():
    for program, want in ((local_clipping, [2.5, 2.5]), (mend_local_clipping, [1.5, 2.0])):
        result = run(clipped, program, 2.5, ranks=2, on="dgx-a100")
        assert [shards[0].item() for shards in result.values] == pytest.approx(want)


def with_a_nan():
    return mend_local_clipping([torch.tensor([float("nan") if dist.get_rank() else 1.0])], 2.5)


def test_one_number_travels_and_a_nan_reaches_all():
    result = run(with_a_nan, ranks=2, on="dgx-a100")
    assert all(shards[0].isnan() for shards in result.values)
    assert {(e.kind, e.nbytes) for e in result.trace.communication} == {("all_reduce", 4)}
