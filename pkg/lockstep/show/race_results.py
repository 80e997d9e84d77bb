"""The results of races between training methods: time, bytes and updates of each, and the recorded races of unit 06.

``experiments.without_waiting.race`` runs them, and ``show.race`` draws them; nothing here needs a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from lockstep.tables import Table, published

RANKS, TARGET = 8, 0.25  # machines, and the loss to reach
TIMES = files("lockstep.without_waiting") / "data" / "race.csv"
PROVENANCE = """\
# The race to a loss of 0.25: softmax regression on 1,280 digits, 650 float64 parameters, 8 ranks, parted by class
# (Dirichlet, alpha = 0.3). provenance: simulated, on the virtual cluster;
# lockstep.experiments.without_waiting.race.grid(full=True) computes this file anew.
# Empty: the loss was not reached with so many updates; then loss is the lowest there was.
"""


@dataclass(frozen=True)
class Arrival:
    """A method's price until it reached the loss. ``seconds`` is None where it did not: then ``loss`` is the lowest
    that it had, and the rest is of the whole run."""

    method: str
    straggler: float
    link: str
    seconds: float | None
    nbytes: int
    updates: int
    loss: float


@dataclass(frozen=True)
class Race:
    """A setting of straggler and link, and the arrival of each method, in the order of METHODS."""

    straggler: float
    link: str
    arrivals: Sequence[Arrival]

    def table(self) -> Table:
        """The three prices, with the lowest of each marked."""
        there = [a for a in self.arrivals if a.seconds is not None]
        least = [min((of(a) for a in there), default=None) for of in PRICES]
        rows = [[a.method, *(_told(a, n, least[n]) for n in range(len(PRICES)))] for a in self.arrivals]
        slow = f"rank 1 takes {self.straggler:g} times as long" if self.straggler != 1 else "no straggler"
        caption = f"To a loss of {TARGET}: {RANKS} machines, {slow}, link: {self.link}. * the least."
        return Table(caption, ["", "time", "sent by all ranks", "updates"], rows)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def __repr__(self) -> str:
        return repr(self.table())


PRICES: Sequence[Callable[[Arrival], float]] = (
    lambda a: a.seconds or math.inf,
    lambda a: a.nbytes,
    lambda a: a.updates,
)


def recorded() -> list[Race]:
    """The races for each of STRAGGLERS on each of LINKS, read from the course's file."""
    rows = [_read(row) for row in published("without_waiting", TIMES.name)]
    settings = dict.fromkeys((row.straggler, row.link) for row in rows)
    return [Race(*setting, [row for row in rows if (row.straggler, row.link) == setting]) for setting in settings]


def written(races: Sequence[Race]) -> str:
    """The contents of the course's file with these races."""
    head = "straggler,link,method,seconds,bytes,updates,loss"
    rows = [
        f'{a.straggler:g},{a.link},"{a.method}",{"" if a.seconds is None else repr(a.seconds)},{a.nbytes},{a.updates},'
        f"{a.loss:.4f}"
        for one in races
        for a in one.arrivals
    ]
    return "\n".join([PROVENANCE + head, *rows, ""])


def _read(row: Mapping[str, str]) -> Arrival:
    seconds = float(row["seconds"]) if row["seconds"] else None
    return Arrival(
        row["method"],
        float(row["straggler"]),
        row["link"],
        seconds,
        int(row["bytes"]),
        int(row["updates"]),
        float(row["loss"]),
    )


def _told(a: Arrival, price: int, least: float | None) -> str:
    if a.seconds is None:
        return f"loss {a.loss:.2f} after {a.updates:,} updates" if not price else "–"
    told = (f"{1e3 * a.seconds:,.1f} ms", f"{a.nbytes / 1e6:,.2f} MB", f"{a.updates:,}")[price]
    return f"{told} *" if PRICES[price](a) == least else told
