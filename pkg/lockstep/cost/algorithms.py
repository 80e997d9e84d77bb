"""What broadcast, reduce and all-reduce cost, algorithm by algorithm: the table of unit 04.

    n      bytes of the tensor that every rank holds
    K      ranks
    α, β   seconds a message, seconds a byte (Hockney, "The communication challenge for MPP", 1994)
    L      ⌈log₂ K⌉

    algorithm                 rounds    seconds of an all-reduce        bytes in all    busiest port
    star (one to many)        2(K-1)    2(K-1)(α + nβ)                  2(K-1)n         (K-1)n
    binary tree               ≤ 4L      rounds·(α + nβ)                 2(K-1)n         ≤ 3n
    binomial tree             2L        2L(α + nβ)                      2(K-1)n         Ln
    naive, all to all         K-1       (K-1)(α + nβ)                   K(K-1)n         (K-1)n
    ring, whole tensor        K-1       (K-1)(α + nβ)                   K(K-1)n         (K-1)n
    ring, K chunks            2(K-1)    2(K-1)α + 2(K-1)/K·nβ           2(K-1)n         2(K-1)/K·n
    recursive doubling        L         L(α + nβ)                       KLn             Ln
    halving-doubling          2L        2Lα + 2(K-1)/K·nβ               2(K-1)n         2(K-1)/K·n

A rank has one port out and one port in: it sends one message at a time and receives one at a time, both at once. So a
master that serves K-1 workers needs K-1 rounds; one round would need a master with K-1 ports. The additions are taken
as free. Chunks are n/K bytes, even where K does not divide n.

Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 2005
(trees, recursive doubling, halving-doubling); Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", JPDC 2009 (ring; no all-reduce can send fewer than 2(K-1)n bytes in all).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lockstep.errors import UsageError

KINDS = ("broadcast", "reduce", "all_reduce")


@dataclass(frozen=True)
class Cost:
    """What one collective operation costs. Messages and bytes are those sent; in total as many are received."""

    algorithm: str
    kind: str
    seconds: float
    rounds: int  # consecutive messages: each waits for the one before
    messages: int  # by all ranks together
    messages_per_rank: int  # by the rank that sends the most
    nbytes: float  # by all ranks together
    nbytes_per_rank: float  # by the rank that sends the most
    busiest_port: float  # bytes through the busiest port of any rank, in or out


def star(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0, kind: str = "broadcast") -> Cost:
    """The master sends to (or receives from) every worker in turn. An all-reduce is a reduce, then a broadcast."""
    _valid(nbytes, ranks, kind)
    peers = ranks - 1
    sent = min(1, peers) if kind == "reduce" else peers
    return _whole("star", kind, _legs(kind) * peers, _legs(kind) * peers, sent, peers, nbytes, alpha, beta)


def binary_tree(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0, kind: str = "broadcast") -> Cost:
    """Rank i sends to its children, 2i+1, then 2i+2. No port carries more than 3n, for any number of ranks."""
    _valid(nbytes, ranks, kind)
    depth = max(m.bit_length() + m.bit_count() - 2 for m in range(1, ranks + 1))  # a left child waits 1, a right one 2
    root = min(2, ranks - 1)  # children
    inner = min(2, max(0, ranks - 3)) + 1 if ranks > 1 else 0  # rank 1: its children and its parent
    sent = {"broadcast": root, "reduce": min(1, root), "all_reduce": max(root, inner)}[kind]
    port = max(root, inner) if kind == "all_reduce" else root
    messages = _legs(kind) * (ranks - 1)
    return _whole("binary_tree", kind, _legs(kind) * depth, messages, sent, port, nbytes, alpha, beta)


def binomial_tree(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0, kind: str = "broadcast") -> Cost:
    """Every rank that has the tensor sends it in every round, so the number of ranks that have it doubles each time."""
    _valid(nbytes, ranks, kind)
    depth = log2_ceil(ranks)
    sent = min(1, depth) if kind == "reduce" else depth
    messages = _legs(kind) * (ranks - 1)
    return _whole("binomial_tree", kind, _legs(kind) * depth, messages, sent, depth, nbytes, alpha, beta)


def naive_all_reduce(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0) -> Cost:
    """Every rank sends its whole tensor to every other one: K reduce operations, one for each rank."""
    return _everything_everywhere("naive", nbytes, ranks, alpha, beta)


def unchunked_ring_all_reduce(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0) -> Cost:
    """Every rank forwards the whole tensor that it received last. A ring, but with the traffic of the naive
    algorithm."""
    return _everything_everywhere("unchunked_ring", nbytes, ranks, alpha, beta)


def ring_all_reduce(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0) -> Cost:
    """Reduce-scatter, then all-gather, K-1 rounds each, one chunk of n/K bytes to the right neighbour in each."""
    return _chunked("ring", 2 * (ranks - 1), nbytes, ranks, alpha, beta)


def recursive_doubling_all_reduce(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0) -> Cost:
    """Exchange the whole tensor with the rank at distance 1, 2, 4 ... For powers of two."""
    _power_of_two(ranks, "recursive doubling")
    _valid(nbytes, ranks)
    rounds = log2_ceil(ranks)
    return _whole(
        "recursive_doubling", "all_reduce", rounds, ranks * rounds, rounds, rounds, nbytes, alpha, beta
    )  # fmt: skip


def halving_doubling_all_reduce(nbytes: int, ranks: int, alpha: float = 0.0, beta: float = 0.0) -> Cost:
    """Exchange halves, quarters, eighths ... (reduce-scatter), then the reverse (all-gather). For powers of two."""
    _power_of_two(ranks, "halving-doubling")
    return _chunked("halving_doubling", 2 * log2_ceil(ranks), nbytes, ranks, alpha, beta)


def all_reduce_table(nbytes: int, ranks: int, alpha: float, beta: float) -> list[Cost]:
    """The cost of every all-reduce in the table above, in its order; those for powers of two only where they apply."""
    return [make(nbytes, ranks, alpha, beta) for make in all_reduces(ranks).values()]


def all_reduces(ranks: int) -> dict[str, Callable[[int, int, float, float], Cost]]:
    """The all-reduce algorithms that work for ``ranks`` ranks, by name."""
    table: dict[str, Callable[[int, int, float, float], Cost]] = {
        "star": lambda n, k, a, b: star(n, k, a, b, "all_reduce"),
        "binary_tree": lambda n, k, a, b: binary_tree(n, k, a, b, "all_reduce"),
        "binomial_tree": lambda n, k, a, b: binomial_tree(n, k, a, b, "all_reduce"),
        "naive": naive_all_reduce,
        "unchunked_ring": unchunked_ring_all_reduce,
        "ring": ring_all_reduce,
    }
    if is_power_of_two(ranks):
        table |= {"recursive_doubling": recursive_doubling_all_reduce, "halving_doubling": halving_doubling_all_reduce}
    return table


def log2_ceil(ranks: int) -> int:
    """⌈log₂ K⌉."""
    return (ranks - 1).bit_length()


def is_power_of_two(ranks: int) -> bool:
    return ranks > 0 and ranks & (ranks - 1) == 0


def _whole(
    name: str, kind: str, rounds: int, messages: int, sent: int, port: int, n: int, alpha: float, beta: float
) -> Cost:
    """An algorithm whose every message is the whole tensor: ``sent`` and ``port`` are counted in tensors."""
    return Cost(name, kind, rounds * (alpha + n * beta), rounds, messages, sent, messages * n, sent * n, port * n)


def _everything_everywhere(name: str, n: int, ranks: int, alpha: float, beta: float) -> Cost:
    _valid(n, ranks)
    peers = ranks - 1
    return _whole(name, "all_reduce", peers, ranks * peers, peers, peers, n, alpha, beta)


def _chunked(name: str, rounds: int, n: int, ranks: int, alpha: float, beta: float) -> Cost:
    """An all-reduce in which every rank sends one message a round and 2(K-1)/K·n bytes, which is the least possible."""
    _valid(n, ranks)
    share = 2 * (ranks - 1) * n / ranks
    seconds = rounds * alpha + share * beta
    return Cost(name, "all_reduce", seconds, rounds, rounds * ranks, rounds, 2 * (ranks - 1) * n, share, share)


def _legs(kind: str) -> int:
    return 2 if kind == "all_reduce" else 1


def _valid(nbytes: int, ranks: int, kind: str = "all_reduce") -> None:
    if ranks < 1 or nbytes < 0:
        raise UsageError(f"A collective needs at least 1 rank and 0 bytes, not {ranks} ranks and {nbytes} bytes.")
    if kind not in KINDS:
        raise UsageError(f"There is no cost for the collective {kind!r} here.", f"Choose one of: {', '.join(KINDS)}.")


def _power_of_two(ranks: int, algorithm: str) -> None:
    if not is_power_of_two(ranks):
        raise UsageError(f"{algorithm.capitalize()} needs a power of two: 1, 2, 4, 8 ... ranks, not {ranks}.")
