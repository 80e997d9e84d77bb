"""Work on shared cores, drawn: a letter is a second of work, a dot is an idle core."""

from itertools import pairwise

import pytest
from hypothesis import strategies as st
from same_examples import given

from lockstep.cost.collectives import collective_time
from lockstep.cost.contention import Cores, Demand, shared
from lockstep.machines import Cluster, Device, Link

WIRE = Link(1.0, 0.0)


def machine(cores: int | None, ranks_per_node: int = 1024) -> Cluster:
    return Cluster("by hand", Device("core", {"float32": 1.0}, 1.0, 1, 0.0), ranks_per_node, WIRE, WIRE, cores=cores)


def drawn(cores: int, jobs: list[tuple[str, float]]) -> float:
    """When the last of ``jobs``, (name, seconds), all of which could begin at 0, is done."""
    book = Cores(machine(cores))
    return max(book.compute(rank, 0.0, seconds) for rank, (_, seconds) in enumerate(jobs))


def taken(book: Cores, demand: Demand, ready: float, seconds: float) -> float:
    """How long from ``ready`` on until work of ``seconds`` on several cores is done."""
    start = book.earliest(demand, ready, seconds)
    book.book(demand, start, seconds)
    return start + seconds - ready


def test_a_third_computation_waits_for_one_of_two_cores() -> None:
    """
    core 0   A A C
    core 1   B .
    """
    assert drawn(2, [("A", 2.0), ("B", 1.0), ("C", 1.0)]) == 2.0
    assert drawn(2, [("A", 2.0), ("B", 2.0), ("C", 1.0)]) == 3.0


def test_a_message_keeps_two_cores_busy_so_two_cores_carry_one_at_a_time() -> None:
    """Four ranks, each sends to its right: on 2 cores four rounds, on 4 cores two, on 8 cores one."""
    for cores, rounds in ((1, 4.0), (2, 4.0), (4, 2.0), (8, 1.0), (None, 1.0)):
        book = Cores(machine(cores))
        assert max(taken(book, book.message(r, (r + 1) % 4), 0.0, 1.0) for r in range(4)) == rounds


def test_a_message_beside_a_computation_leaves_it_a_core_less() -> None:
    """
    core 0   A A A A m          the message needs both at once: one copies the bytes in, the other copies them out
    core 1   . . . . m
    """
    book = Cores(machine(2))
    assert book.compute(0, 0.0, 4.0) == 4.0
    assert taken(book, book.message(1, 2), 0.0, 1.0) == 5.0
    assert book.compute(3, 0.0, 4.0) == 4.0, "core 1 stays free until then"


def test_a_collective_keeps_busy_what_its_ranks_can() -> None:
    """Four ranks have eight ends: on 16 cores half of them are left for computing, on 8 or 2 none."""
    for cores, beside in ((16, 1.0), (8, 6.0), (2, 6.0), (None, 1.0)):
        book = Cores(machine(cores))
        assert taken(book, book.collective(range(4)), 0.0, 5.0) == 5.0
        assert max(book.compute(rank, 0.0, 1.0) for rank in range(4)) in (beside, beside + 1)
    apart = Cores(machine(1, ranks_per_node=2))
    assert apart.compute(2, 0.0, 1.0) == 1.0
    assert taken(apart, apart.collective((0, 2)), 0.0, 2.0) == 3.0  # the node that is busy decides


def test_a_gap_that_was_left_is_filled() -> None:
    """
    core 0   . . . . . A B B        A asked first, but for later
    """
    book = Cores(machine(1))
    assert book.compute(0, 5.0, 1.0) == 1.0
    assert book.compute(1, 0.0, 2.0) == 2.0
    assert book.compute(2, 1.0, 3.0) == 4.0  # from 2 to 5: just fits
    assert book.compute(3, 0.0, 1.0) == 7.0


def test_each_node_has_cores_of_its_own_and_a_message_between_two_takes_one_of_each() -> None:
    book = Cores(machine(1, ranks_per_node=2))
    assert [book.compute(rank, 0.0, 1.0) for rank in range(4)] == [1.0, 2.0, 1.0, 2.0]
    assert taken(book, book.message(0, 2), 0.0, 1.0) == 3.0


def test_without_shared_cores_a_second_stays_exactly_a_second() -> None:
    book = Cores(machine(None))
    assert book.compute(0, 0.1, 0.3) == 0.3
    assert book.message(0, 1) == book.collective(range(8)) == {}, "and a message needs none"


@given(st.integers(1, 5), st.lists(st.tuples(st.floats(0, 50), st.floats(0.01, 10)), min_size=1, max_size=40))
def test_nothing_ends_before_its_work_is_done_nor_far_later(cores: int, jobs: list[tuple[float, float]]) -> None:
    book = Cores(machine(cores))
    ends = [ready + book.compute(0, ready, seconds) for ready, seconds in jobs]
    work, longest, last = sum(s for _, s in jobs), max(s for _, s in jobs), max(r for r, _ in jobs)
    assert all(end >= ready + seconds - 1e-9 for end, (ready, seconds) in zip(ends, jobs, strict=True))
    assert max(ends) >= work / cores - 1e-9
    if last == 0:  # Graham's bound, for work that can all begin at once
        assert max(ends) <= work / cores + longest + 1e-9


@given(st.integers(1, 4), st.lists(st.tuples(st.floats(0, 9), st.floats(0.1, 3)), max_size=30))
def test_no_core_does_two_things_at_once(cores: int, jobs: list[tuple[float, float]]) -> None:
    book = Cores(machine(cores))
    for ready, seconds in jobs:
        book.compute(0, ready, seconds)
    spans = [span for core in book._nodes.get(0, []) for span in core.spans]
    assert sum(end - start for start, end in spans) == pytest.approx(sum(s for _, s in jobs))
    for core in book._nodes.get(0, []):
        assert all(a[1] <= b[0] for a, b in pairwise(core.spans))


@pytest.mark.parametrize(
    ("ranks", "cores", "turns"),
    [(4, None, 1), (2, 8, 1), (4, 8, 1), (8, 8, 2), (4, 2, 4), (2, 2, 2), (3, 1, 3), (1, 1, 1)],
)
def test_a_round_of_a_collective_takes_as_many_turns_as_its_messages_need(ranks: int, cores: int, turns: int) -> None:
    link = shared(Link(2.0, 3.0), ranks, cores)
    assert (link.alpha, link.beta) == (2.0 * turns, 3.0 * turns)
    if turns == 1:
        assert collective_time("barrier", 0, range(ranks), machine(cores)) == collective_time(
            "barrier", 0, range(ranks), machine(None)
        )


def test_on_shared_cores_a_collective_takes_longer_the_more_ranks_share_them() -> None:
    alone, few, many = (collective_time("all_reduce", 10**6, range(4), machine(cores)) for cores in (None, 4, 2))
    assert (few, many) == (2 * alone, 4 * alone)
