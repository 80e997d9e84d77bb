"""Who gets which examples: even, overlapping and dynamic; and what can be seen of any such function."""

import random
from copy import deepcopy
from itertools import chain, combinations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from lockstep.checks.calls import told_call
from lockstep.checks.exercise import find
from lockstep.data_parallel.sampler import (
    EpochSampler,
    dynamic_split,
    overlapping,
    partition,
    permutation,
    splits_table,
)
from lockstep.exercises.all_reduce_sgd.partition.exercise import EPOCHS
from lockstep.exercises.all_reduce_sgd.shares import observed, otherwise_salted

NAMES = [f"example {i}" for i in range(120)]


@pytest.mark.parametrize(("n", "ranks"), [(0, 2), (3, 5), (13, 4), (120, 8), (7, 1)])
def test_every_example_is_on_one_rank(n: int, ranks: int) -> None:
    for epoch in range(3):
        shares = [partition(NAMES[:n], rank, ranks, epoch) for rank in range(ranks)]
        assert sorted(chain(*shares)) == sorted(NAMES[:n])
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_nobody_notices_the_call() -> None:
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    partition(NAMES, 0, 4, 7)
    assert torch.equal(torch.rand(3), expected)


def test_where_ranks_divide_the_examples_torch_deals_out_the_same() -> None:
    for rank in range(4):
        theirs = DistributedSampler(NAMES, num_replicas=4, rank=rank)
        theirs.set_epoch(5)
        assert [NAMES[i] for i in theirs] == partition(NAMES, rank, 4, 5)
    theirs = [DistributedSampler(NAMES[:13], num_replicas=4, rank=rank) for rank in range(4)]
    assert sum(map(len, theirs)) == 16  # three of thirteen are dealt out twice


def test_the_sampler_serves_a_loader() -> None:
    samplers = [EpochSampler(NAMES[:13], rank, 4) for rank in range(4)]
    assert [len(sampler) for sampler in samplers] == [4, 3, 3, 3]
    epochs = []
    for epoch in range(2):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        epochs.append([list(DataLoader(range(13), batch_size=None, sampler=sampler)) for sampler in samplers])
    assert [sorted(chain(*epoch)) for epoch in epochs] == [list(range(13))] * 2
    assert epochs[0] != epochs[1]


def test_an_overlapping_split_survives_the_loss_of_a_rank() -> None:
    shares = [set(overlapping(NAMES, rank, 4, 1)) for rank in range(4)]
    assert [len(share) for share in shares] == [60] * 4
    for left in combinations(shares, 3):
        assert set.union(*left) == set(NAMES)
    assert overlapping(NAMES, 0, 1, 1) == partition(NAMES, 0, 1, 1)


def test_a_dynamic_split_gives_the_slow_rank_less() -> None:
    taken = dynamic_split(12, [1.0, 1.0, 1.0, 3.0])
    assert [len(own) for own in taken] == [4, 4, 3, 1]
    assert sorted(chain(*taken)) == list(range(12))
    assert dynamic_split(5, [1.0, 9.0], at_once=2) == [[0, 1, 4], [2, 3]]


def test_the_table_counts_how_often_examples_are_seen() -> None:
    table = splits_table()
    assert [cells[0] for cells in table.rows] == ["even"] * 2 + ["overlapping"] * 2 + ["dynamic"] * 2
    assert [cells[-3:] for cells in table.rows] == [["0", "12", "0"]] * 2 + [["0", "0", "12"]] * 2 + [
        ["0", "12", "0"]
    ] * 2
    order = permutation(12, 0)
    assert table.rows[0][2] == " ".join(map(str, order[::4]))


def by_words(seed):  # type: ignore[no-untyped-def]
    """A partition whose seed is ``seed(rank, epoch)``."""

    def shared(dataset, rank, ranks, epoch):  # type: ignore[no-untyped-def]
        return random.Random(seed(rank, epoch)).sample(dataset, len(dataset))[rank::ranks]

    return shared


def filed(dataset, rank, ranks, epoch):  # type: ignore[no-untyped-def]
    """Dealt out as it lies; a learner who did so in the first epoch alone had full points."""
    return dataset[rank::ranks]


@pytest.mark.parametrize(
    ("fn", "fact", "value"),
    [
        (partition, "stays", ""),
        (by_words(lambda rank, epoch: 5), "stays", "all"),
        (by_words(lambda rank, epoch: epoch // 2), "between", "0 and 1"),
        (by_words(lambda rank, epoch: 10 * epoch + rank), "own", True),
        (by_words(lambda rank, epoch: None), "depends", "call"),
        (by_words(lambda rank, epoch: hash(f"{epoch}")), "depends", "hash"),
        (by_words(lambda rank, epoch: hash((3, epoch))), "depends", ""),
        (by_words(lambda rank, epoch: random.random()), "depends", "random"),
        (by_words(lambda rank, epoch: random.getrandbits(8)), "touched", "random"),
        (filed, "stays", "file"),
        (
            lambda dataset, rank, ranks, epoch: (partition if epoch else filed)(dataset, rank, ranks, epoch),
            "stays",
            "file",
        ),
        (lambda dataset, rank, ranks, epoch: list(range(9)), "position", True),
        (lambda dataset, rank, ranks, epoch: [torch.zeros(2)], "position", False),
        (lambda dataset, rank, ranks, epoch: None, "kind", "NoneType"),
        (lambda dataset, rank, ranks, epoch: partition(dataset, 0, ranks, epoch), "lost", 90),
        (lambda dataset, rank, ranks, epoch: partition(dataset, 0, ranks, epoch), "holders", [0, 1, 2, 3]),
        (lambda dataset, rank, ranks, epoch: partition(dataset, (rank + epoch) % ranks, ranks, 0), "stays", "sets"),
    ],
)
def test_what_is_seen_of_a_partition(fn, fact, value) -> None:  # type: ignore[no-untyped-def]
    before = random.getstate(), torch.get_rng_state()
    assert observed(fn, NAMES, 4, 3, twice=True)[fact] == value
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


def test_one_rank_that_is_left_out_is_not_taken_for_orders_of_ones_own() -> None:
    """A quarter of all is lost then, and by chance a third would be."""
    seen = observed(lambda data, rank, ranks, epoch: partition(data, max(rank, 1), ranks, epoch), NAMES, 4, 2)
    assert (seen["lost"], seen["own"]) == (30, False)


def test_an_order_that_comes_again_ten_epochs_later_is_seen() -> None:
    """Four epochs were looked at, and a seed of epoch % 10 passed."""
    seen = observed(lambda data, rank, ranks, epoch: partition(data, rank, ranks, epoch % 10), NAMES, 4, EPOCHS)
    assert (seen["stays"], seen["between"]) == ("all", "0 and 100")
    assert observed(partition, NAMES, 4, EPOCHS)["stays"] == ""


def test_what_the_check_gives_to_its_observer_is_not_told_as_a_call() -> None:
    """Whoever's function hung read that partition(…, 4, 4, True) did not end: rank 4 of 4, in the epoch True."""
    exercise = find("all_reduce_sgd.partition")
    assert not any(told_call(exercise, call) for case in exercise.cases(1, 0) for call in exercise.inputs(case, 0))


def test_the_hash_of_numbers_is_not_salted() -> None:
    assert otherwise_salted((1, 2.5)) == hash((1, 2.5))
    assert otherwise_salted(("a", 1)) != hash(("a", 1))
    assert otherwise_salted(b"a") != hash(b"a")


def test_rows_of_an_array_are_no_examples() -> None:
    """Two of them equalled the same example, and it was told that half of all were on no rank."""
    dataset = [[i // 2] for i in range(12)]
    rows = observed(
        lambda d, rank, ranks, epoch: list(np.random.default_rng(epoch).permutation(d)[rank::ranks]), dataset, 3, 2
    )
    assert rows["foreign"].startswith("array(")
    copies = observed(lambda d, rank, ranks, epoch: deepcopy(partition(d, rank, ranks, epoch)), dataset, 3, 2)
    assert (copies["foreign"], copies["lost"], copies["doubled"]) == ("", 0, 0)
    fewer = observed(
        lambda d, rank, ranks, epoch: [example for example in d if d.index(example) % 3 == rank], dataset[:-1], 3, 2
    )
    assert (fewer["lost"], fewer["doubled"]) == (0, 0)
    lost = observed(lambda d, rank, ranks, epoch: partition(d[1:], rank, ranks, epoch), dataset, 3, 2)
    assert (lost["lost"], lost["doubled"]) == (1, 0)
