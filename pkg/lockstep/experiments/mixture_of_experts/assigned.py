"""Which bytes each of four experts gets, after a short training with and without the load-balancing loss.

At a learning rate of 0.02 and without the loss, one expert gets everything after 100 steps. The counts are recorded in
the course's file: ``python -m lockstep.experiments.mixture_of_experts.assigned`` recomputes it, in a few seconds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from lockstep.experts.training import EXPERTS, Trained, bytes_of_experts, trained
from lockstep.tables import Table, published

RATE, SEED, STEPS = 0.02, 2, 100
WAYS = {"with": 0.01, "without": 0.0}  # the weight of the balancing loss
FILE = "bytes_of_experts.csv"
PROVENANCE = f"""\
# How often each of {EXPERTS} experts computes which byte of pieces of the source of Python's standard library that it
# was not trained on: a GPT whose second block is a mixture, top-1, {STEPS} steps of Adam at {RATE}, seed {SEED}.
# provenance: computed, on a CPU; python -m lockstep.experiments.mixture_of_experts.assigned computes this file anew.
"""

Counts = Sequence[Counter[int]]  # for each expert, the count of each byte


def recorded() -> dict[str, Counts]:
    """The two trainings in the course's file."""
    found: dict[str, Counts] = {way: [Counter() for _ in range(EXPERTS)] for way in WAYS}
    for row in published("experiments/mixture_of_experts", FILE):
        found[row["way"]][int(row["expert"])][int(row["byte"])] = int(row["times"])
    return found


def computed(steps: int = STEPS) -> dict[str, Counts]:
    """The same trainings, computed now."""
    return {way: bytes_of_experts(trained(balance, RATE, steps, SEED).model) for way, balance in WAYS.items()}


def written(found: Mapping[str, Counts]) -> str:
    """The text of the course's file with these counts."""
    rows = [
        f"{way},{expert},{byte},{times}"
        for way, counts in found.items()
        for expert, of_expert in enumerate(counts)
        for byte, times in sorted(of_expert.items())
    ]
    return "\n".join([PROVENANCE + "way,expert,byte,times", *rows, ""])


def shares_table(runs: Mapping[str, Trained], every: int = 20) -> Table:
    """For each training, the percentage of the tokens that each expert gets, averaged over ``every`` steps."""
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
