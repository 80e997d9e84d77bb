"""The time of a collective on a cluster: inside a node, between nodes, or in steps of both kinds.

    n      bytes, as in ``Event.nbytes``
    K      ranks in the group, on m nodes with k of them each

Flat, an algorithm does not care who is where, and the slower link decides each of its rounds. In two levels, steps
inside the nodes take turns with steps between them, and a tensor cut into pieces keeps both kinds of link busy at once:

    all_reduce, m nodes of k       1 reduce-scatter inside, n bytes
                                   2 all-reduce between, n/k bytes, on k rails at once (a rail: one rank of every node)
                                   3 all-gather inside, n bytes

Where links differ (``Cluster.with_link``), all of a kind count as the slowest of that kind among the ranks of the
group: the highest alpha and the highest beta of any pair. In a ring that is exact, since every round waits for the
slowest link; an algorithm that knows of it, and goes round it, is not assumed. The sums are taken as free, so a slow
device delays a collective by coming late to it, and in no other way.

The virtual cluster charges the least of these times. A library takes longer: it does not know every algorithm and does
not reach the peak of a link. With NCCL on 8 to 32 GPUs a large all-reduce takes 1.05 to 1.45 times as long
(github.com/stas00/ml-engineering, network benchmarks), a small one several times as long: its kernels must be launched.

Sources: those of ``flat``; for the two levels and the overlap of their steps: Cho et al., "BlueConnect", 2019.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import comb
from types import MappingProxyType

from lockstep.cost.algorithms import (
    Cost,
    all_reduce_table,
    all_reduces,
    binary_tree,
    binomial_tree,
    halving_doubling_all_reduce,
    naive_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_reduce,
    star,
    unchunked_ring_all_reduce,
)
from lockstep.cost.cores import shared
from lockstep.cost.fit import choose_algorithm, fit_alpha_beta
from lockstep.cost.flat_network import flat_times
from lockstep.machines import Cluster, Link

__all__ = [
    "Cost",
    "all_reduce_table",
    "all_reduces",
    "best_algorithm",
    "binary_tree",
    "binomial_tree",
    "choose_algorithm",
    "collective_time",
    "fit_alpha_beta",
    "flat_times",
    "halving_doubling_all_reduce",
    "naive_all_reduce",
    "recursive_doubling_all_reduce",
    "ring_all_reduce",
    "slowest_links",
    "star",
    "unchunked_ring_all_reduce",
]

Step = tuple[str, str, float]  # "inside" or "between", the collective, its bytes
Plan = tuple[Step, ...]


def collective_time(kind: str, nbytes: int, ranks: Sequence[int], cluster: Cluster) -> float:
    """Seconds for the collective ``kind`` of the global ``ranks``; 0 for a single rank."""
    return min(_cluster_times(kind, nbytes, ranks, cluster).values())


def best_algorithm(kind: str, nbytes: int, ranks: Sequence[int], cluster: Cluster) -> str:
    """The name of the algorithm whose time ``collective_time`` gives."""
    times = _cluster_times(kind, nbytes, ranks, cluster)
    return min(times, key=lambda name: times[name])


def _cluster_times(kind: str, nbytes: int, ranks: Sequence[int], cluster: Cluster) -> MappingProxyType[str, float]:
    per_node = _per_node(ranks, cluster)
    most = max(per_node, default=0)
    inside, between = (shared(link, most, cluster.cores) for link in slowest_links(ranks, cluster))
    return _times(kind, nbytes, per_node, inside.together(most), between)


def slowest_links(ranks: Sequence[int], cluster: Cluster) -> tuple[Link, Link]:
    """The links inside a node and between nodes as a collective of ``ranks`` finds them."""
    special = {pair: link for pair, link in cluster.special_links.items() if pair[0] in ranks and pair[1] in ranks}
    if not special:
        return cluster.inside, cluster.between
    near = [link for pair, link in special.items() if cluster.is_inside(*pair)]
    far = [link for pair, link in special.items() if not cluster.is_inside(*pair)]
    pairs_near = sum(comb(k, 2) for k in _per_node(ranks, cluster))
    return (
        _slowest(cluster.inside, near, pairs_near),
        _slowest(cluster.between, far, comb(len(ranks), 2) - pairs_near),
    )


def _slowest(usual: Link, special: Sequence[Link], pairs: int) -> Link:
    """Of ``pairs`` links of a kind, those in ``special`` differ; the rest, if any, are ``usual``."""
    links = [*special, usual] if len(special) < pairs or not special else special
    return replace(usual, alpha=max(link.alpha for link in links), beta=max(link.beta for link in links))


def _per_node(ranks: Sequence[int], cluster: Cluster) -> tuple[int, ...]:
    """How many of the ranks each node holds, for the nodes that hold any."""
    return tuple(sorted(Counter(cluster.node(rank) for rank in ranks).values()))


@lru_cache(maxsize=4096)
def _times(
    kind: str, nbytes: int, per_node: tuple[int, ...], inside: Link, between: Link
) -> MappingProxyType[str, float]:
    nodes, k, total = len(per_node), max(per_node, default=0), sum(per_node)
    slower = Link(max(inside.alpha, between.alpha), max(inside.beta, between.beta))
    times = flat_times(kind, nbytes, total, inside if nodes == 1 else slower)
    if nodes > 1 and k > 1:
        rails = k if k == min(per_node) else 1  # uneven nodes: one rank of each speaks for all
        for name, plan in _two_level(kind, nodes, rails).items():
            times[name] = min(_pipelined(plan, nbytes, pieces, nodes, k, inside, between) for pieces in _PIECES)
        if kind == "all_to_all":
            near, far, part = min(per_node) - 1, total - min(per_node), nbytes / total
            times["pairwise, both kinds of link at once"] = max(near * inside.time(part), far * between.time(part))
    return MappingProxyType(times)


_PIECES = (1, 2, 4, 8, 16, 32, 64)


def _pipelined(plan: Plan, n: float, pieces: int, nodes: int, k: int, inside: Link, between: Link) -> float:
    """Each piece goes through all steps; from the second on, only the busier kind of link costs time."""
    spent = {"inside": 0.0, "between": 0.0}
    for where, kind, share in plan:
        count, link = (k, inside) if where == "inside" else (nodes, between)
        spent[where] += min(flat_times(kind, n * share / pieces, count, link).values())
    return sum(spent.values()) + (pieces - 1) * max(spent.values())


def _two_level(kind: str, m: int, rails: int) -> dict[str, Plan]:
    """The plans for m nodes: led by one rank a node, or on ``rails`` of them. The bytes are shares of n."""
    led, railed = _LED[kind](1 / m), _RAILED[kind](1 / rails) if rails > 1 else ()
    return {", ".join(f"{what} {where}" for where, what, _ in plan): plan for plan in (led, railed) if plan}


# One rank of each node speaks for it; o is the share of one node, 1/m.
_LED: dict[str, Callable[[float], Plan]] = {
    "broadcast": lambda o: (("between", "broadcast", 1), ("inside", "broadcast", 1)),
    "reduce": lambda o: (("inside", "reduce", 1), ("between", "reduce", 1)),
    "all_reduce": lambda o: (("inside", "reduce", 1), ("between", "all_reduce", 1), ("inside", "broadcast", 1)),
    "scatter": lambda o: (("between", "scatter", 1), ("inside", "scatter", o)),
    "gather": lambda o: (("inside", "gather", o), ("between", "gather", 1)),
    "all_gather": lambda o: (("inside", "gather", o), ("between", "all_gather", 1), ("inside", "broadcast", 1)),
    "reduce_scatter": lambda o: (("inside", "reduce", 1), ("between", "reduce_scatter", 1), ("inside", "scatter", o)),
    "all_to_all": lambda o: (),
    "barrier": lambda o: (("inside", "barrier", 0), ("between", "barrier", 0), ("inside", "barrier", 0)),
}

# All k ranks of a node take part, each with the share o = 1/k of the bytes.
_RAILED: dict[str, Callable[[float], Plan]] = {
    "broadcast": lambda o: (("inside", "scatter", 1), ("between", "broadcast", o), ("inside", "all_gather", 1)),
    "reduce": lambda o: (("inside", "reduce_scatter", 1), ("between", "reduce", o), ("inside", "gather", 1)),
    "all_reduce": lambda o: (
        ("inside", "reduce_scatter", 1),
        ("between", "all_reduce", o),
        ("inside", "all_gather", 1),
    ),
    "scatter": lambda o: (("inside", "scatter", 1), ("between", "scatter", o)),
    "gather": lambda o: (("between", "gather", o), ("inside", "gather", 1)),
    "all_gather": lambda o: (("between", "all_gather", o), ("inside", "all_gather", 1)),
    "reduce_scatter": lambda o: (("inside", "reduce_scatter", 1), ("between", "reduce_scatter", o)),
    "all_to_all": lambda o: (("inside", "all_to_all", 1), ("between", "all_to_all", 1)),
    "barrier": lambda o: (),
}
