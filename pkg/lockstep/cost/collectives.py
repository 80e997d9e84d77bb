"""The time of a collective on a cluster: by the best known algorithm, and as NCCL and RCCL reach it.

    n      bytes, as in ``Event.nbytes``: the whole tensor, of which each rank holds or gets one part in a scatter,
           gather, all_gather, reduce_scatter or all_to_all (for a scatter and a gather: what the root holds)
    K      ranks in the group, on m nodes with k of them each
    L      ⌈log₂ K⌉

**Links of one kind** (``flat_times``). Every algorithm is a number of consecutive messages and the bytes that they
carry: rounds·α + bytes·β. In a pipelined chain each rank passes on one piece while it receives the next.

**A cluster** (``collective_time``). Flat, an algorithm ignores which node a rank is on, and the slower kind of link
decides each of its rounds. In two levels, steps inside the nodes alternate with steps between them, and a tensor cut
into pieces keeps both kinds of link busy at once:

    all_reduce, m nodes of k       1 reduce-scatter inside, n bytes
                                   2 all-reduce between, n/k bytes, on k rails at once (a rail: one rank of every node)
                                   3 all-gather inside, n bytes

Where links differ (``Cluster.with_link``), all of a kind count as the slowest of that kind among the ranks of the
group: the highest alpha and the highest beta of any pair. In a ring that is exact, since every round waits for the
slowest link; an algorithm that knows the slow link and avoids it is not assumed. The sums are taken as free, so a slow
device delays a collective by joining it late, and in no other way.

The virtual cluster charges the least of these times. A library takes longer: it does not implement every algorithm and
does not reach the peak of a link. With NCCL on 8 to 32 GPUs a large all-reduce takes 1.05 to 1.45 times as long
(github.com/stas00/ml-engineering, network benchmarks), a small one several times as long: its kernels must be launched.

**NCCL and RCCL** (``library_all_reduce``), in one node, with B the bytes per second that a GPU reaches by the numbers
in their own sources. A data sheet promises more.

    algorithm        through each port       reached
    ring             2(K-1)/K · n            B
    in the switch      (K+1)/K · n           B · efficiency of NVLS

A message over NVLink has headers, and a kernel cannot keep all links busy all the time. NCCL assumes 20 GB/s for a link
that has 25 (Volta, Ampere), 20.6 (Hopper), 40.1 for one that has 50 (Blackwell); RCCL assumes 48 GB/s for a link of the
MI300X that has 64.

From Hopper on the switch adds up (NVLS, "NVLink SHARP"). A GPU requests the sum of its share from the switch: for that
each GPU puts its whole tensor on its wire once, and the share, n/K, comes back. Then it sends its sum to the switch,
n/K, which multicasts it to all: n come in. So n + n/K each way, instead of nearly 2n: a "bus bandwidth" above that of
the wire is no error.

Sources, algorithms: Thakur, Rabenseifner, Gropp, IJHPCA 2005 (trees, scatter and all-gather, ring, recursive doubling);
Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997
(all-gather and all-to-all in L rounds for any K); Träff, "Optimal, non-pipelined reduce-scatter and allreduce
algorithms", arXiv:2410.14234 (the same for reduce-scatter); Hensgen, Finkel, Manber, "Two algorithms for barrier
synchronization", 1988 (dissemination); Cho et al., "BlueConnect", 2019 (two levels, and the overlap of their steps).
Sources, libraries: NVIDIA/nccl, src/graph/topo.h (``SM70_NVLINK_BW`` ...) and tuning.cc (``nvlsEfficiency``); RCCL,
topo.h (``GFX94X_XGMI_WIDTH``); for network cards SimAI (aliyun/SimAI, calbusbw.h: ``CX6_BW``, ``CX7_BW``). No number is
fitted to the measurements that ``lockstep bench predict`` compares them with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from types import MappingProxyType

from lockstep.cost.algorithms import is_power_of_two, log2_ceil
from lockstep.cost.contention import shared
from lockstep.errors import UsageError
from lockstep.events import COLLECTIVES
from lockstep.machines import Cluster, Link

# ---- links of one kind

CHAIN_PIECES = tuple(2**i for i in range(1, 11))  # into which a pipelined chain may cut its tensor

Moved = tuple[float, float]  # consecutive messages, and the bytes of these through one port


def flat_times(kind: str, nbytes: float, ranks: int, link: Link) -> dict[str, float]:
    """``{algorithm: seconds}`` of the collective ``kind`` of ``nbytes`` among ``ranks`` ranks, every pair of which is
    connected by ``link``. Raises UsageError for an unknown collective."""
    if kind not in COLLECTIVES:
        raise UsageError(f"There is no collective {kind!r}.", f"Choose one of: {', '.join(COLLECTIVES)}.")
    if ranks < 1 or nbytes < 0:
        raise UsageError(f"A collective needs at least 1 rank and 0 bytes, not {ranks} ranks and {nbytes} bytes.")
    if ranks == 1:
        return {"nothing to do": 0.0}
    known = _KNOWN[kind](nbytes, ranks, log2_ceil(ranks))
    return {name: rounds * link.alpha + moved * link.beta for name, (rounds, moved) in known.items()}


def _broadcast_or_reduce(n: float, k: int, log: int) -> dict[str, Moved]:
    """A reduce is a broadcast backwards."""
    chains = {f"chain in {s} pieces": (k - 2 + s, (k - 2 + s) * n / s) for s in CHAIN_PIECES}
    return {"binomial tree": (log, log * n), "scatter and all-gather": (2 * log, 2 * (k - 1) / k * n), **chains}


def _all_reduce(n: float, k: int, log: int) -> dict[str, Moved]:
    known: dict[str, Moved] = {
        "ring": (2 * (k - 1), 2 * (k - 1) / k * n),
        "reduce-scatter and all-gather": (2 * log, 2 * (k - 1) / k * n),
        "binomial tree": (2 * log, 2 * log * n),
        "all-gather, each sums for itself": (log, (k - 1) * n),
    }
    return {**known, "recursive doubling": (log, log * n)} if is_power_of_two(k) else known


def _parts(n: float, k: int, log: int) -> dict[str, Moved]:
    """All but one of K parts of n/K bytes pass the busiest port; the rounds are K-1 or, doubling, L."""
    return {"ring": (k - 1, (k - 1) / k * n), "doubling": (log, (k - 1) / k * n)}


def _all_to_all(n: float, k: int, log: int) -> dict[str, Moved]:
    """Pairwise: every part goes straight to its rank. Bruck: half of the parts travel in each of L rounds."""
    return {"pairwise": (k - 1, (k - 1) / k * n), "Bruck": (log, log * n / 2)}


_KNOWN: dict[str, Callable[[float, int, int], dict[str, Moved]]] = {
    "broadcast": _broadcast_or_reduce,
    "reduce": _broadcast_or_reduce,
    "all_reduce": _all_reduce,
    "scatter": _parts,
    "gather": _parts,
    "all_gather": _parts,
    "reduce_scatter": _parts,
    "all_to_all": _all_to_all,
    "barrier": lambda n, k, log: {"dissemination": (log, 0.0)},
}


# ---- a cluster: links inside nodes and between them

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
    """(the link inside a node, the link between nodes) that a collective of ``ranks`` runs at: the slowest of each
    kind."""
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
    """The slowest of ``pairs`` links of one kind: those in ``special``, and ``usual`` if any others are left."""
    links = [*special, usual] if len(special) < pairs or not special else special
    return replace(usual, alpha=max(link.alpha for link in links), beta=max(link.beta for link in links))


def _per_node(ranks: Sequence[int], cluster: Cluster) -> tuple[int, ...]:
    """The number of these ranks on each node that has any."""
    return tuple(sorted(Counter(cluster.node(rank) for rank in ranks).values()))


@lru_cache(maxsize=4096)
def _times(
    kind: str, nbytes: int, per_node: tuple[int, ...], inside: Link, between: Link
) -> MappingProxyType[str, float]:
    nodes, k, total = len(per_node), max(per_node, default=0), sum(per_node)
    slower = Link(max(inside.alpha, between.alpha), max(inside.beta, between.beta))
    times = flat_times(kind, nbytes, total, inside if nodes == 1 else slower)
    if nodes > 1 and k > 1:
        rails = k if k == min(per_node) else 1  # uneven nodes: one leader of each
        for name, plan in _two_level(kind, nodes, rails).items():
            times[name] = min(_pipelined(plan, nbytes, pieces, nodes, k, inside, between) for pieces in _PIECES)
        if kind == "all_to_all":
            near, far, part = min(per_node) - 1, total - min(per_node), nbytes / total
            times["pairwise, both kinds of link at once"] = max(near * inside.time(part), far * between.time(part))
    return MappingProxyType(times)


_PIECES = (1, 2, 4, 8, 16, 32, 64)


def _pipelined(plan: Plan, n: float, pieces: int, nodes: int, k: int, inside: Link, between: Link) -> float:
    """Seconds of a plan whose tensor is cut into pieces: from the second piece on, only the busier kind of link adds
    time."""
    spent = {"inside": 0.0, "between": 0.0}
    for where, kind, share in plan:
        count, link = (k, inside) if where == "inside" else (nodes, between)
        spent[where] += min(flat_times(kind, n * share / pieces, count, link).values())
    return sum(spent.values()) + (pieces - 1) * max(spent.values())


def _two_level(kind: str, m: int, rails: int) -> dict[str, Plan]:
    """The plans for m nodes: through one leader per node, or on ``rails`` rails. The bytes are shares of n."""
    led, railed = _LED[kind](1 / m), _RAILED[kind](1 / rails) if rails > 1 else ()
    return {", ".join(f"{what} {where}" for where, what, _ in plan): plan for plan in (led, railed) if plan}


# One leader per node communicates for it; o is the share of one node, 1/m.
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


# ---- what NCCL and RCCL reach

GB = 1e9


@dataclass(frozen=True)
class Reach:
    """Bytes per second and direction: of one of the ``Link.links`` inside a node, and of a GPU's network card.
    ``in_switch`` is the part of the first that is left when the switch adds up (0: it cannot)."""

    inside: float
    between: float
    in_switch: float = 0.0


REACHED: Mapping[str, Reach] = MappingProxyType(
    {
        "dgx-v100": Reach(6 * 20.0 * GB, 23.5 / 4 * GB),
        "dgx-a100": Reach(12 * 20.0 * GB, 23.5 * GB),
        "dgx-h100": Reach(18 * 20.6 * GB, 48.5 * GB, 0.85),
        "h200": Reach(18 * 20.6 * GB, 48.5 * GB, 0.85),
        "dgx-b200": Reach(18 * 40.1 * GB, 48.5 * GB, 0.74),
        "mi300x": Reach(48.0 * GB, 48.5 * GB),
    }
)


def as_reached(cluster: Cluster) -> Cluster:
    """The cluster with the bandwidths that a library reaches; the cluster itself where none are published."""
    reach = REACHED.get(cluster.name)
    if reach is None:
        return cluster
    return replace(cluster, inside=_at(cluster.inside, reach.inside), between=_at(cluster.between, reach.between))


def library_all_reduce(nbytes: int, ranks: int, cluster: Cluster, in_switch: bool = True) -> float:
    """Seconds of an all-reduce of ranks 0 to K-1: by the model at the reached bandwidths, or in the switch if that is
    faster. ``in_switch``: whether the library may use it (``NCCL_NVLS_ENABLE``)."""
    reached = as_reached(cluster)
    by_model = collective_time("all_reduce", nbytes, range(ranks), reached)
    efficiency = REACHED[cluster.name].in_switch if cluster.name in REACHED else 0.0
    if not in_switch or not efficiency or not 1 < ranks <= cluster.ranks_per_node:
        return by_model
    inside, _ = slowest_links(range(ranks), reached)
    return min(by_model, 2 * inside.alpha + (ranks + 1) / ranks * nbytes * inside.beta / efficiency)


def _at(link: Link, bandwidth: float) -> Link:
    return replace(link, beta=1 / bandwidth)
