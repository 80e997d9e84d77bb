"""Shards of one number of ranks for another: every pair of numbers, with everything that was read."""

import itertools

import pytest
import torch

from lockstep.exercises.fsdp.recorded_reads import Saved, numbers
from lockstep.sharded.flat import shard_of
from lockstep.sharded.sharded_checkpoints import pieces, reshard


@pytest.mark.parametrize("numel", [1, 5, 12, 37])
def test_every_number_is_read_once_and_no_padding(numel):
    for old, new in itertools.product(range(1, 9), repeat=2):
        read = Saved(numel, old)
        shards = [reshard(read, numel, old, new, rank) for rank in range(new)]
        assert all(torch.equal(shard, shard_of(numbers(numel), r, new)) for r, shard in enumerate(shards))
        n = -(-numel // old)
        there = [q * n + e for q, begin, end in read.reads for e in range(begin, end)]
        assert there == list(range(numel))


def test_the_picture_in_its_docstring():
    assert list(pieces(7, 3, 4, 1)) == [(0, 2, 3), (1, 0, 1)]
    assert not list(pieces(5, 2, 8, 7))  # nothing but padding


def test_there_is_nothing_to_read_outside_of_a_shard():
    for rank, begin, end in [(3, 0, 1), (0, 1, 1), (0, 2, 4), (-1, 0, 1)]:
        with pytest.raises(IndexError):
            Saved(7, 3)(rank, begin, end)


def test_a_read_that_is_refused_is_a_read():
    """Who asked every old rank, and caught the errors, had called it once for each needed shard, it seemed."""
    read = Saved(7, 3)
    with pytest.raises(IndexError):
        read(0, 1, 1)
    assert read.reads == [[-1, 0, 0]]
