"""Times of collectives on clusters: the least of what is known, sensible in every direction, near to measurements."""

import itertools
from dataclasses import replace

import pytest

from lockstep.cost.algorithms import ring_all_reduce
from lockstep.cost.collectives import best_algorithm, collective_time, flat_times, library_all_reduce, slowest_links
from lockstep.errors import UsageError
from lockstep.events import COLLECTIVES
from lockstep.machines import Cluster, Device, Link, find, names

TOY = Cluster("toy", Device("toy", {"float32": 1e9}, 1e9, 1, 0.0), 4, Link(1e-6, 1e-10), Link(1e-5, 1e-9))


@pytest.mark.parametrize("kind", COLLECTIVES)
@pytest.mark.parametrize("name", names())
def test_one_rank_alone_takes_no_time_and_two_take_some(kind: str, name: str) -> None:
    cluster = find(name)
    assert collective_time(kind, 10**6, [3], cluster) == 0.0
    assert collective_time(kind, 10**6, [3, 4], cluster) >= min(cluster.inside.alpha, cluster.between.alpha)


@pytest.mark.parametrize("kind", COLLECTIVES)
@pytest.mark.parametrize("ranks", [2, 3, 4, 6, 8, 16, 22, 64])
def test_more_bytes_never_take_less_time(kind: str, ranks: int) -> None:
    times = [collective_time(kind, 10**i, range(ranks), TOY) for i in range(10)]
    assert times == sorted(times)


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_twice_the_ranks_never_take_less_time(kind: str) -> None:
    for nbytes in (8, 10**5, 10**9):
        times = [collective_time(kind, nbytes, range(2**i), TOY) for i in range(9)]
        assert all(b >= a * 0.999 for a, b in itertools.pairwise(times)), times


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_a_group_inside_a_node_is_faster_than_one_across_nodes(kind: str) -> None:
    inside = collective_time(kind, 10**6, [4, 5, 6, 7], TOY)
    across = collective_time(kind, 10**6, [0, 4, 8, 12], TOY)
    mixed = collective_time(kind, 10**6, [0, 1, 4, 5], TOY)
    assert inside < mixed <= across


@pytest.mark.parametrize("kind", COLLECTIVES)
@pytest.mark.parametrize("ranks", [2, 4, 5, 8, 16])
def test_nothing_beats_the_bytes_that_must_pass_a_port(kind: str, ranks: int) -> None:
    nbytes, link = 10**9, Link(1e-6, 1e-9)
    must_pass = {"broadcast": 1, "reduce": 1, "all_reduce": 2 * (ranks - 1) / ranks, "barrier": 0}
    least = must_pass.get(kind, (ranks - 1) / ranks) * nbytes * link.beta
    assert min(flat_times(kind, nbytes, ranks, link).values()) >= least * (1 - 1e-12)
    assert min(flat_times(kind, nbytes, ranks, link).values()) >= link.alpha * (ranks - 1).bit_length() * (ranks > 1)


def test_the_ring_of_the_table_is_the_ring_here() -> None:
    link = Link(1e-6, 1e-9)
    assert flat_times("all_reduce", 5000, 5, link)["ring"] == pytest.approx(
        ring_all_reduce(5000, 5, 1e-6, 1e-9).seconds
    )


def test_latency_and_bandwidth_choose_different_algorithms() -> None:
    assert best_algorithm("all_reduce", 8, range(4), TOY) == "recursive doubling"
    assert best_algorithm("all_reduce", 10**8, range(4), TOY) == "reduce-scatter and all-gather"
    assert best_algorithm("broadcast", 8, range(4), TOY) == "binomial tree"
    assert best_algorithm("broadcast", 10**8, range(4), TOY).startswith("chain in")


def test_two_levels_by_hand() -> None:
    """2 nodes of 4 ranks, 10⁸ bytes, in one piece: 3/4 n inside, 2·1/2·n/4 between, 3/4 n inside."""
    n = 10**8
    inside, between = 3 / 4 * n * 1e-10, n / 4 * 1e-9
    name = "reduce_scatter inside, all_reduce between, all_gather inside"
    assert best_algorithm("all_reduce", n, range(8), TOY) == name
    time = collective_time("all_reduce", n, range(8), TOY)
    assert max(2 * inside, between) < time < 2 * inside + between
    assert time == pytest.approx(between, rel=0.2)  # the overlap hides what happens inside the nodes


def test_uneven_nodes_have_one_speaker() -> None:
    assert "inside" in best_algorithm("all_reduce", 8, [0, 1, 2, 4, 8, 9], TOY)
    even, uneven = range(8), [0, 1, 2, 3, 4, 5, 6, 8]
    assert collective_time("all_reduce", 10**8, even, TOY) < collective_time("all_reduce", 10**8, uneven, TOY)


def test_all_to_all_uses_both_kinds_of_link_at_once() -> None:
    n, name = 10**9, "pairwise, both kinds of link at once"
    assert best_algorithm("all_to_all", n, range(8), TOY) == name
    assert collective_time("all_to_all", n, range(8), TOY) == pytest.approx(4 * (1e-5 + n / 8 * 1e-9))


@pytest.mark.parametrize(
    ("name", "ranks", "nbytes", "busbw"),
    [
        ("dgx-a100", 8, 2**32, 235e9),
        ("h200", 8, 2**33, 365.6e9),
        ("dgx-b200", 8, 2**34, 845.67e9),
        ("dgx-b200", 32, 2**34, 381.8e9),
        ("mi300x", 8, 2**32, 312.912e9),
    ],
)
def test_large_all_reduces_are_near_to_what_was_measured(name: str, ranks: int, nbytes: int, busbw: float) -> None:
    """NCCL and RCCL as published in stas00/ml-engineering, network benchmarks; busbw = bytes / seconds · 2(K-1)/K."""
    measured = nbytes * 2 * (ranks - 1) / ranks / busbw
    assert 1.0 < measured / collective_time("all_reduce", nbytes, range(ranks), find(name)) < 1.5


def test_a_thousand_ranks_are_no_trouble() -> None:
    assert 0 < collective_time("all_gather", 10**9, range(1024), find("dgx-h100")) < 1


def test_bad_input_is_told_what_is_wrong() -> None:
    with pytest.raises(UsageError, match="no collective 'all_redcue'"):
        collective_time("all_redcue", 8, [0, 1], TOY)
    with pytest.raises(UsageError, match="at least 1 rank"):
        collective_time("all_reduce", 8, [], TOY)
    with pytest.raises(UsageError, match="-8 bytes"):
        collective_time("all_reduce", -8, [0, 1], TOY)


# ---- unequal links


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_a_collective_runs_at_the_slowest_link_of_its_group(kind: str) -> None:
    """As on a cluster all of whose links are as slow: in a ring every round waits for the slowest."""
    slow = TOY.with_link(1, 2, bandwidth=1e8, latency=1e-4)
    as_slow = replace(TOY, inside=Link(1e-4, 1e-8))
    for nbytes in (0, 8, 10**7):
        assert collective_time(kind, nbytes, range(4), slow) == collective_time(kind, nbytes, range(4), as_slow)
        assert collective_time(kind, nbytes, range(4), slow) > collective_time(kind, nbytes, range(4), TOY)


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_a_slow_link_counts_only_when_both_ends_are_in_the_group(kind: str) -> None:
    slow = TOY.with_link(1, 2, bandwidth=1e8).with_link(3, 9, latency=1.0)
    for group in ([0, 1, 3], [0, 2, 3], [0, 9], range(4, 9), [1]):
        assert collective_time(kind, 10**6, group, slow) == collective_time(kind, 10**6, group, TOY)


def test_each_kind_of_link_has_its_own_slowest() -> None:
    """A slow link inside a node does not slow down what goes between nodes."""
    cluster = TOY.with_link(1, 2, bandwidth=1e9).with_link(1, 3, latency=1e-3).with_link(0, 4, bandwidth=1e7)
    inside, between = slowest_links(range(8), cluster)
    assert (inside.alpha, inside.beta) == (1e-3, 1e-9)
    assert (between.alpha, between.beta) == (1e-5, 1e-7)
    assert slowest_links([4, 5, 6], cluster) == (TOY.inside, TOY.between)


def test_a_fast_link_helps_only_those_who_have_no_other() -> None:
    cluster = TOY.with_link(0, 1, bandwidth=1e12)
    fast, usual = (collective_time("all_reduce", 10**8, [0, 1], c) for c in (cluster, TOY))
    assert fast < usual / 50
    three = [0, 1, 2]
    assert collective_time("all_reduce", 10**8, three, cluster) == collective_time("all_reduce", 10**8, three, TOY)


def test_a_slow_rank_does_not_slow_a_collective_down_once_it_is_there() -> None:
    slow = TOY.with_rank(2, speed=0.1)
    assert collective_time("all_reduce", 10**8, range(8), slow) == collective_time("all_reduce", 10**8, range(8), TOY)


def test_what_a_library_reaches_follows_the_slow_link_too() -> None:
    """On H100 the switch adds up, unless one GPU hangs on a link of a tenth."""
    cluster = find("dgx-h100").with_link(0, 1, bandwidth=45e9)
    assert library_all_reduce(10**9, 8, cluster) > 5 * library_all_reduce(10**9, 8, find("dgx-h100"))
    assert library_all_reduce(10**9, 8, cluster.with_link(0, 1, bandwidth=1e15)) == pytest.approx(
        library_all_reduce(10**9, 8, find("dgx-h100"))
    )
