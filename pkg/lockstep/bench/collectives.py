"""The course's all-reduce algorithms against gloo's own ``dist.all_reduce``, on processes of this machine.

The references are Python, a line a step; gloo is C++. For short tensors the ratio is the cost of Python and of one call
of torch for every message; for long ones it shows how good the algorithm is.
"""

from __future__ import annotations

from collections.abc import Mapping

from lockstep.bench.on_processes import RANKS, crowded
from lockstep.bench.table import Row, Table, size_of
from lockstep.bench.timed_all_reduces import ALGORITHMS, Case, Seconds, on_processes
from lockstep.bench.timing import Size

REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 15, "full": 31}
SIZES: Mapping[Size, tuple[int, ...]] = {
    "quick": (4,),
    "normal": (4, 2**14, 2**20, 2**23),
    "full": (4, 2**10, 2**14, 2**17, 2**20, 2**23, 2**26),
}
OWN = "gloo's all_reduce"


def tables(size: Size) -> list[Table]:
    return [table(ranks, size) for ranks in RANKS[size]]


def table(ranks: int, size: Size) -> Table:
    cases = [(algorithm, nbytes) for nbytes in SIZES[size] for algorithm in ALGORITHMS]
    found = on_processes(cases, ranks, REPEATS[size])
    notes = [f"Of {REPEATS[size]} repeats, in turn: the slowest rank's time. Ratio: by gloo's own of that size."]
    title = f"collectives: an all-reduce of {ranks} ranks on this machine"
    return Table(title, [row(case, found) for case in cases], notes + crowded(ranks))


def row(case: Case, found: Mapping[Case, Seconds]) -> Row:
    algorithm, nbytes = case
    own = found[OWN, nbytes]
    return {
        "size": size_of(nbytes),
        "all-reduce": algorithm,
        "median [µs]": found[case].median * 1e6,
        "ratio to gloo": found[case].median / own.median,
        "least [µs]": found[case].least * 1e6,
        "least's ratio": found[case].least / own.least,
    }
