"""Which bytes each of four experts gets, after a short training with the load-balancing loss and one without it.

At a rate of 0.02 one expert has eaten all after 100 steps if nothing keeps it from that. The counts stand in the
course's file: ``python -m lockstep.experiments.mixture_of_experts.assigned`` computes it anew, in a few seconds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from lockstep.experts.training import EXPERTS, Trained, bytes_of_experts, trained
from lockstep.tables import Table, published

RATE, SEED, STEPS = 0.02, 2, 100
WAYS = {"with": 0.01, "without": 0.0}  # the balancing loss, and how much it counts
FILE = "bytes_of_experts.csv"
PROVENANCE = f"""\
# How often each of {EXPERTS} experts computes which byte of pieces of the source of Python's standard library that it
# was not trained on: a GPT whose second block is a mixture, top-1, {STEPS} steps of Adam at {RATE}, seed {SEED}.
# provenance: computed, on a CPU; python -m lockstep.experiments.mixture_of_experts.assigned computes this file anew.
"""

Counts = Sequence[Counter[int]]  # by expert: how many of each byte


def recorded() -> dict[str, Counts]:
    """The two trainings of the course's file."""
    found: dict[str, Counts] = {way: [Counter() for _ in range(EXPERTS)] for way in WAYS}
    for row in published("experiments/mixture_of_experts", FILE):
        found[row["way"]][int(row["expert"])][int(row["byte"])] = int(row["times"])
    return found


def computed(steps: int = STEPS) -> dict[str, Counts]:
    """The same, now."""
    return {way: bytes_of_experts(trained(balance, RATE, steps, SEED).model) for way, balance in WAYS.items()}


def written(found: Mapping[str, Counts]) -> str:
    """The course's file with these counts in it."""
    rows = [
        f"{way},{expert},{byte},{times}"
        for way, counts in found.items()
        for expert, of_expert in enumerate(counts)
        for byte, times in sorted(of_expert.items())
    ]
    return "\n".join([PROVENANCE + "way,expert,byte,times", *rows, ""])


def shares_table(runs: Mapping[str, Trained], every: int = 20) -> Table:
    """For each training, how many per cent of the tokens each expert gets: means of ``every`` steps."""
    rows = []
    for way, run in runs.items():
        for first in range(0, len(run.shares), every):
            some = run.shares[first : first + every]
            means = [100 * sum(of_expert) / len(some) for of_expert in zip(*some, strict=True)]
            rows.append([way, f"{first + 1} to {first + len(some)}", *(f"{mean:.0f} %" for mean in means)])
    E = len(rows[0]) - 2
    head = ["training", "steps", *(f"expert {i}" for i in range(E))]
    return Table("Who gets the tokens", head, rows)


if __name__ == "__main__":
    sys.stdout.write(written(computed()))
