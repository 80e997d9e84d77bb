"""Do experts pay off in trainings as small as the course's? The final losses of a GPT with and without them.

Two learning rates, two seeds each. Without a balancing loss one expert gets more than its share; with the high rate and
one of the seeds, everything. The losses of the three ways overlap at both rates: seeds differ as much as ways.

The runs are recorded in the course's file: ``python -m lockstep.experiments.mixture_of_experts.quality`` recomputes it,
in a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lockstep.experts.collapse import DENSE, WAYS
from lockstep.experts.training import EXPERTS, dense_losses, trained
from lockstep.tables import Table, published
from lockstep.tally import counted

RATES, SEEDS, STEPS, LAST = (0.003, 0.02), (0, 1), 200, 20
FILE = "quality.csv"
PROVENANCE = f"""\
# The last {LAST} of {STEPS} steps of a GPT whose second block is a mixture of {EXPERTS} experts, top-1, and of the same
# GPT without experts ("dense"): the mean loss (nats a byte), and the largest expert's mean share of the tokens. Adam,
# on the source of Python's standard library.
# provenance: computed, on a CPU; python -m lockstep.experiments.mixture_of_experts.quality computes this file anew.
"""


class End(NamedTuple):
    rate: float
    way: str  # "without" or "with" the balancing loss, or "dense"
    seed: int
    loss: float
    largest: float | None  # share of an expert; None if there are none


def recorded() -> list[End]:
    """The runs in the course's file."""
    return [
        End(float(r["rate"]), r["way"], int(r["seed"]), float(r["loss"]), float(r["largest"]) if r["largest"] else None)
        for r in published("experiments/mixture_of_experts", FILE)
    ]


def computed(steps: int = STEPS, seeds: Sequence[int] = SEEDS) -> Iterator[End]:
    """The same runs, computed now."""
    every = [(rate, way, seed) for rate in RATES for way in WAYS for seed in seeds]
    for rate, way, seed in counted(every, "Training", each=6.0):
        balance = WAYS[way]
        if balance is None:
            yield End(rate, way, seed, _mean(dense_losses(rate, steps, seed)), None)
        else:
            _, losses, shares = trained(balance, rate, steps, seed)
            yield End(rate, way, seed, _mean(losses), max(map(_mean, zip(*shares, strict=True))))


def _mean(of_steps: Sequence[float]) -> float:
    some = of_steps[-LAST:]
    return sum(some) / len(some)


def written(ends: Sequence[End]) -> str:
    """The text of the course's file with these runs."""
    lines = [
        f"{e.rate:g},{e.way},{e.seed},{e.loss:.4f},{'' if e.largest is None else f'{e.largest:.4f}'}" for e in ends
    ]
    return "\n".join([PROVENANCE + "rate,way,seed,loss,largest", *lines, ""])


def quality_table(ends: Sequence[End] | None = None) -> Table:
    """A row for each rate and way, with all seeds."""
    ends, rows = recorded() if ends is None else ends, []
    for rate, way in dict.fromkeys((e.rate, e.way) for e in ends):
        these = [e for e in ends if (e.rate, e.way) == (rate, way)]
        losses = " and ".join(f"{e.loss:.2f}" for e in these)
        largest = " and ".join(f"{100 * e.largest:.0f} %" for e in these if e.largest is not None)
        rows.append([f"{rate:g}", "dense: no experts" if way == DENSE else way, losses, largest])
    head = ["learning rate", "balancing loss", "loss, of two seeds", "largest share of an expert"]
    return Table(f"Means of the last {LAST} of {STEPS} steps, recorded", head, rows)


if __name__ == "__main__":
    sys.stdout.write(written(list(computed())))
