"""Every collective × world sizes × awkward sizes × dtypes × roots × worlds: values to the bit, messages to the byte."""

import math
from collections.abc import Callable, Iterator

import pytest
import torch
from collective_cases import RANKS, WORLDS, Case, by_case, cases, received, sent, swept
from torch import Tensor

from lockstep.cost import algorithms
from lockstep.events import Event

pytestmark = pytest.mark.xdist_group("sweep")  # its runs are kept for all of these tests
every_size = pytest.mark.parametrize("K", RANKS)
on_processes = [K if K == 4 else pytest.param(K, marks=pytest.mark.slow) for K in RANKS]


def total(case: Case, K: int) -> Tensor:
    return torch.stack([case.input(r) for r in range(K)]).sum(0)


def gathered(case: Case, K: int) -> Tensor:
    return torch.cat([case.input(r).tensor_split(K)[r] for r in range(K)])


def expected(case: Case, K: int, rank: int) -> Tensor | None:
    """What one rank alone computes from all inputs; None where the result is not specified."""
    if case.name.endswith("broadcast"):
        return case.input(case.root or 0)
    if case.name.endswith("_reduce") and case.root is not None:
        return total(case, K) if rank == case.root else None
    return gathered(case, K) if case.name == "ring_all_gather" else total(case, K)


def same(a: Tensor, b: Tensor) -> bool:
    return a.dtype == b.dtype and torch.equal(a, b)


@pytest.mark.sampled(6)
@every_size
def test_every_rank_gets_what_one_rank_alone_computes(K: int) -> None:
    compare(K, "virtual")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("K", on_processes)
def test_every_process_gets_what_one_rank_alone_computes(K: int) -> None:
    compare(K, "processes")


def compare(K: int, world: str) -> None:
    for rank, results in enumerate(swept(K, world).values):
        for case, (tensor, returned) in zip(cases(K), results, strict=True):
            want = expected(case, K, rank)
            if case.name == "ring_reduce_scatter":
                assert same(tensor.tensor_split(K)[rank], want.tensor_split(K)[rank]), case
                assert same(returned, want.tensor_split(K)[rank]), case
            elif want is not None:
                assert same(tensor, want), (case, rank)
                assert same(returned, tensor), (case, rank)


@pytest.mark.slow
@every_size
def test_a_star_leaves_the_tensors_of_the_others_alone(K: int) -> None:
    for rank, results in enumerate(swept(K, "virtual").values):
        for case, (tensor, _) in zip(cases(K), results, strict=True):
            if case.name == "star_reduce" and rank != case.root:
                assert same(tensor, case.input(rank))


@pytest.mark.parametrize("K", on_processes)
def test_all_worlds_see_the_same_messages(K: int) -> None:
    virtual, processes = (swept(K, world) for world in WORLDS)
    assert virtual.trace.counts() == processes.trace.counts()
    for rank in range(K):
        routes = [
            sorted((e.kind, e.peer or 0, e.nbytes, e.tag) for e in result.trace.of_rank(rank) if e.kind != "compute")
            for result in (virtual, processes)
        ]
        assert routes[0] == routes[1]


# ---- the budgets that the docstrings state


def chunks(n: int, K: int) -> list[int]:
    return [len(c) for c in torch.empty(n).tensor_split(K)]


def log2(K: int) -> int:
    return math.ceil(math.log2(K))


Budget = tuple[int, int]  # what a rank sends: messages, elements


def ring(K: int, r: int, n: int, _: int) -> Budget:
    return 2 * (K - 1), 2 * n - chunks(n, K)[r] - chunks(n, K)[(r + 1) % K]


def reduce_scatter(K: int, r: int, n: int, _: int) -> Budget:
    return K - 1, n - chunks(n, K)[r]


def all_gather(K: int, r: int, n: int, _: int) -> Budget:
    return K - 1, n - chunks(n, K)[(r + 1) % K]


def peers(K: int, r: int, n: int, _: int) -> Budget:
    return K - 1, (K - 1) * n


def star_all_reduce(K: int, r: int, n: int, _: int) -> Budget:
    messages = K - 1 if r == 0 else 1
    return messages, messages * n


def binary_tree(K: int, r: int, n: int, _: int) -> Budget:
    messages = (r > 0) + sum(child < K for child in (2 * r + 1, 2 * r + 2))
    return messages, messages * n


def doubling(K: int, r: int, n: int, _: int) -> Budget:
    return log2(K), log2(K) * n


def star_broadcast(K: int, r: int, n: int, root: int) -> Budget:
    messages = K - 1 if r == root else 0
    return messages, messages * n


def any_reduce(K: int, r: int, n: int, root: int) -> Budget:
    messages = 0 if r == root else 1
    return messages, messages * n


SENT: dict[str, Callable[[int, int, int, int], Budget]] = {
    "ring_all_reduce": ring,
    "ring_reduce_scatter": reduce_scatter,
    "ring_all_gather": all_gather,
    "star_all_reduce": star_all_reduce,
    "peers_all_reduce": peers,
    "unchunked_ring_all_reduce": peers,
    "one_reduce_after_another": peers,
    "binary_tree_all_reduce": binary_tree,
    "recursive_doubling_all_reduce": doubling,
    "star_broadcast": star_broadcast,
    "star_reduce": any_reduce,
    "tree_reduce": any_reduce,
}


def events_by_case(K: int) -> Iterator[tuple[Case, list[list[Event]]]]:
    """Each case with its events by rank."""
    trace = swept(K, "virtual").trace
    ranks = [by_case(trace.of_rank(r)) for r in range(K)]
    yield from zip(cases(K), ([rank[i] for rank in ranks] for i in range(len(cases(K)))), strict=True)


@every_size
def test_each_rank_sends_what_the_docstring_says(K: int) -> None:
    for case, ranks in events_by_case(K):
        if case.name in SENT:
            want = [SENT[case.name](K, r, case.size, case.root or 0) for r in range(K)]
            assert [sent(e) for e in ranks] == [(m, n * case.itemsize) for m, n in want], case


@every_size
def test_only_messages_are_used(K: int) -> None:
    for case, ranks in events_by_case(K):
        assert {e.kind for events in ranks for e in events} <= {"send", "recv"}, case


@every_size
def test_in_a_tree_everyone_but_the_root_receives_once(K: int) -> None:
    for case, ranks in events_by_case(K):
        nbytes = case.size * case.itemsize
        if case.name == "tree_broadcast":
            assert sent(ranks[case.root or 0]) == (log2(K), log2(K) * nbytes)
            assert [received(e) for e in ranks] == [(int(r != case.root), (r != case.root) * nbytes) for r in range(K)]
        if case.name == "tree_reduce":
            assert received(ranks[case.root or 0]) == (log2(K), log2(K) * nbytes)


@every_size
def test_halving_doubling_sends_as_little_as_the_ring_in_fewer_messages(K: int) -> None:
    for case, ranks in events_by_case(K):
        if case.name == "halving_doubling_all_reduce":
            share = 2 * (K - 1) * case.size / K
            for events in ranks:
                messages, nbytes = sent(events)
                assert messages == 2 * log2(K)
                assert abs(nbytes / case.itemsize - share) <= 2 * log2(K), (
                    "an odd span has one element more on one side"
                )


COST = {
    "ring_all_reduce": algorithms.ring_all_reduce,
    "peers_all_reduce": algorithms.naive_all_reduce,
    "unchunked_ring_all_reduce": algorithms.unchunked_ring_all_reduce,
    "recursive_doubling_all_reduce": algorithms.recursive_doubling_all_reduce,
    "halving_doubling_all_reduce": algorithms.halving_doubling_all_reduce,
    "star_all_reduce": lambda n, K: algorithms.star(n, K, kind="all_reduce"),
    "binary_tree_all_reduce": lambda n, K: algorithms.binary_tree(n, K, kind="all_reduce"),
    "star_broadcast": lambda n, K: algorithms.star(n, K, kind="broadcast"),
    "star_reduce": lambda n, K: algorithms.star(n, K, kind="reduce"),
    "tree_broadcast": lambda n, K: algorithms.binomial_tree(n, K, kind="broadcast"),
    "tree_reduce": lambda n, K: algorithms.binomial_tree(n, K, kind="reduce"),
}


@every_size
def test_all_ranks_together_send_what_the_cost_model_says(K: int) -> None:
    for case, ranks in events_by_case(K):
        if case.name in COST:
            cost = COST[case.name](case.size * case.itemsize, K)
            everything = sent([e for events in ranks for e in events])
            assert everything == (cost.messages, cost.nbytes), case
