"""A server of training data: even, overlapping and dynamic splits, in virtual time."""

import pytest

from lockstep.data_parallel.sampler import partition
from lockstep.errors import UsageError
from lockstep.experiments.all_reduce_sgd.data_server import epoch, pools, server_table
from lockstep.machines import find

HALF = find("dgx-a100").with_rank(4, speed=0.5)


def test_from_a_common_pool_a_slow_worker_takes_fewer_and_the_epoch_is_shorter() -> None:
    even, dynamic = epoch("even", HALF), epoch("dynamic", HALF)
    assert [len(own) for own in even.values] == [0, 24, 24, 24, 24]
    assert even.values[2] == partition(range(96), 1, 4, 0)
    counts = [len(own) for own in dynamic.values[1:]]
    assert sum(counts) == 96
    assert counts[3] < 0.7 * min(counts[:3])
    assert sorted(i for own in dynamic.values for i in own) == list(range(96))
    assert dynamic.time < 0.75 * even.time


@pytest.mark.slow
def test_among_equals_a_common_pool_gains_nothing() -> None:
    even, dynamic = epoch("even", "dgx-a100"), epoch("dynamic", "dgx-a100")
    assert dynamic.time > 0.95 * even.time


@pytest.mark.slow
def test_overlapping_shares_cost_twice_the_work() -> None:
    even, twice = epoch("even", "dgx-a100"), epoch("overlapping", "dgx-a100")
    assert [len(own) for own in twice.values[1:]] == [48] * 4
    assert 1.7 * even.time < twice.time < 2.3 * even.time


def test_a_rest_is_served_too() -> None:
    ran = epoch("dynamic", "dgx-a100", workers=3, count=10, at_once=4)
    assert sorted(i for own in ran.values for i in own) == list(range(10))


@pytest.mark.slow
def test_the_table_has_a_row_for_each_split() -> None:
    rows = server_table().rows
    assert [(row[0], row[-2]) for row in rows] == [("even", "96"), ("overlapping", "96"), ("dynamic", "96")]


def test_an_unknown_split() -> None:
    with pytest.raises(UsageError, match="no split 'odd'"):
        pools("odd", 3, 2)


def test_a_server_that_answers_one_after_the_other_is_the_bottleneck() -> None:
    few, many = (epoch("dynamic", "dgx-a100", workers, flops=1e6).time for workers in (4, 8))
    assert many > 0.9 * few  # twice the workers, and nothing gained
