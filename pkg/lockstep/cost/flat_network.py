"""The time of a collective among ranks that are all joined by the same kind of link, by each known algorithm.

    n      bytes, as in ``Event.nbytes``: the whole, of which each rank holds or gets one part in a scatter, gather,
           all_gather, reduce_scatter or all_to_all (for a scatter and a gather: what the root holds)
    K      ranks
    L      ⌈log₂ K⌉

Every algorithm is a number of messages that follow one another and the bytes that they carry: α and β do the rest.

Sources: Thakur, Rabenseifner, Gropp, IJHPCA 2005 (trees, scatter and all-gather, ring, recursive doubling); Bruck et
al., "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997 (all-gather and
all-to-all in L rounds for any K); Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms",
arXiv:2410.14234 (the same for reduce-scatter); Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization",
1988 (dissemination). In a pipelined chain each rank passes on one piece while it takes in the next.
"""

from __future__ import annotations

from collections.abc import Callable

from lockstep.cost.algorithms import is_power_of_two, log2_ceil
from lockstep.errors import UsageError
from lockstep.events import COLLECTIVES
from lockstep.machines import Link

PIECES = tuple(2**i for i in range(1, 11))  # into which a pipeline may cut its tensor

Moved = tuple[float, float]  # messages in a row, bytes in a row through one port


def flat_times(kind: str, nbytes: float, ranks: int, link: Link) -> dict[str, float]:
    """``{algorithm: seconds}`` for ``ranks`` that are all joined by ``link``."""
    if kind not in COLLECTIVES:
        raise UsageError(f"There is no collective {kind!r}.", f"Choose one of: {', '.join(COLLECTIVES)}.")
    if ranks < 1 or nbytes < 0:
        raise UsageError(f"A collective needs at least 1 rank and 0 bytes, not {ranks} ranks and {nbytes} bytes.")
    if ranks == 1:
        return {"nothing to do": 0.0}
    known = _KNOWN[kind](nbytes, ranks, log2_ceil(ranks))
    return {name: rounds * link.alpha + moved * link.beta for name, (rounds, moved) in known.items()}


def _broadcast_or_reduce(n: float, k: int, log: int) -> dict[str, Moved]:
    """One is the other backwards."""
    chains = {f"chain in {s} pieces": (k - 2 + s, (k - 2 + s) * n / s) for s in PIECES}
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
