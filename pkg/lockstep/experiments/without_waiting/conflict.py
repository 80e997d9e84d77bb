# mypy: disable-error-code="untyped-decorator"
"""How often threads conflict: the quantities Ω, Δ and ρ of the HOGWILD! paper, computed exactly for a data set.

An example is the set e of the coordinates that it uses. Of all examples E (Niu, Recht, Ré and Wright, "HOGWILD!", NIPS
2011, arXiv:1106.5730, section 2):

    Ω = max over e of |e|                                       the coordinates of the largest example
    Δ = max over v of |{e in E: v in e}| / |E|                  the share of examples that use the busiest coordinate
    ρ = max over e of |{e' in E: e' and e meet}| / |E|          the share of examples that meet the busiest example

The paper's bound on what races cost has all three in it, times how many steps late an update may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from lockstep.experiments.without_waiting.lost_updates import overtaken
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.hogwild import RATES, Examples, data_sets
from lockstep.without_waiting.lock_free import Ints

REPEATS = 20  # epochs whose overtaken steps are counted


@dataclass(frozen=True)
class Conflict:
    """Ω, Δ and ρ; and ``meeting``, the probability that two different random examples share a coordinate: exact, over
    all pairs."""

    omega: int
    delta: float
    rho: float
    meeting: float


def conflict(examples: Examples) -> Conflict:
    """The conflicts in a data set, from every pair of examples and every coordinate that they share."""
    many = len(examples)
    users = np.bincount(examples.coordinates, minlength=examples.size)
    met = meetings(examples.begins, examples.coordinates, *_by_coordinate(examples, users))
    pairs = many * (many - 1)
    meeting = (int(met.sum()) - many) / pairs if pairs else 0.0
    return Conflict(int(np.diff(examples.begins).max()), users.max() / many, met.max() / many, meeting)


def _by_coordinate(examples: Examples, users: Ints) -> tuple[Ints, Ints]:
    """The index from coordinates to examples: coordinate v is used by ``owners[begins[v]:begins[v + 1]]``."""
    owners = np.repeat(np.arange(len(examples)), np.diff(examples.begins))
    return np.concatenate([[0], np.cumsum(users)]), owners[np.argsort(examples.coordinates, kind="stable")]


@njit(nogil=True)
def meetings(begins: Any, coordinates: Any, users_begin: Any, users: Any) -> Any:
    """For each example, the number of examples that share a coordinate with it, itself included."""
    many = begins.size - 1
    met, last = np.zeros(many, np.int64), np.full(many, -1)
    for i in range(many):
        for k in range(begins[i], begins[i + 1]):
            v = coordinates[k]
            for u in range(users_begin[v], users_begin[v + 1]):
                met[i] += last[users[u]] != i
                last[users[u]] = i
            if met[i] == many:
                break
    return met


def conflict_table(threads: int = 2, sets: Mapping[str, Examples] | None = None) -> Table:
    """Ω, Δ, ρ and the probability that two random examples meet, exactly; and, measured with ``threads`` threads, the
    share of steps that were overtaken, the largest of a few epochs: while such a step was under way, another thread
    wrote one of its coordinates."""
    rows = []
    for name, examples in counted((data_sets() if sets is None else sets).items(), "Counting", each=2):
        of = conflict(examples)
        measured = max(overtaken(examples, RATES[name], threads, seed) for seed in range(REPEATS))
        shares = (of.delta, of.rho, of.meeting, measured)
        rows.append([name, f"{examples.size:,}", str(of.omega), *(f"{s:.2%}" for s in shares)])
    head = ["data", "coordinates", "Ω", "Δ", "ρ", "two examples meet", "steps overtaken, measured"]
    caption = (
        "Who gets in whose way. At most: Ω coordinates of one example, Δ examples that use one coordinate, ρ examples "
        f"that one example meets. Overtaken: with {threads} threads."
    )
    return Table(caption, head, rows)
