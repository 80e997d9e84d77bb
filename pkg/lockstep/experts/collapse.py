"""Router collapse: without a balancing loss, one expert eats all; with it, all go on learning.

Who gets a few tokens more is trained more, so it is better, so the gate sends it more: rich get richer. The others get
no token, so no gradient, and never catch up. The model is as good as a dense one then, and E - 1 of E experts' memory
is wasted. How soon it happens depends on the rate of learning: with 0.003 it takes longer than a lesson.

The runs stand in the course's file: ``python -m lockstep.experts.collapse`` computes it anew, in a quarter of a minute.

Source: Shazeer et al., arXiv:1701.06538, section 4: "self-reinforcing".
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from lockstep.experts.training import EXPERTS, trained
from lockstep.tables import Table, published

RATE, SEED, STEPS, BALANCES = 0.02, 1, 200, (0.0, 0.1)
EVERY = 10  # steps whose mean is told
FILE = "collapse.csv"
PROVENANCE = f"""\
# Shares of {EXPERTS} experts in the tokens of a GPT whose second block is a mixture, top-1, and its loss (nats a byte):
# means of {EVERY} steps of Adam at {RATE}, seed {SEED}, on the source of Python's standard library.
# provenance: computed, on a CPU; python -m lockstep.experts.collapse computes this file anew.
"""


class Moment(NamedTuple):
    balance: float  # how much the load-balancing loss counts
    step: int  # the last one of those that are told
    loss: float
    shares: tuple[float, ...]


def recorded() -> list[Moment]:
    """The runs of the course's file."""
    names = [f"expert_{i}" for i in range(EXPERTS)]
    return [
        Moment(float(row["balance"]), int(row["step"]), float(row["loss"]), tuple(float(row[name]) for name in names))
        for row in published("experts", FILE)
    ]


def computed(balances: Sequence[float] = BALANCES, steps: int = STEPS) -> list[Moment]:
    """The same, now."""
    found = []
    for balance in balances:
        run = trained(balance, RATE, steps, SEED)
        for first in range(0, steps, EVERY):
            losses, shares = run.losses[first : first + EVERY], run.shares[first : first + EVERY]
            means = tuple(sum(of_expert) / len(shares) for of_expert in zip(*shares, strict=True))
            found.append(Moment(balance, first + len(losses), sum(losses) / len(losses), means))
    return found


def written(moments: Sequence[Moment]) -> str:
    """The course's file with these runs in it."""
    head = ",".join(["balance", "step", "loss", *(f"expert_{i}" for i in range(EXPERTS))])
    lines = [f"{m.balance:g},{m.step},{m.loss:.4f},{','.join(f'{s:.4f}' for s in m.shares)}" for m in moments]
    return "\n".join([PROVENANCE + head, *lines, ""])


def collapse_table(moments: Sequence[Moment] | None = None, every: int = 5) -> Table:
    """The largest expert's share, with and without the loss, and how many experts have more than 1 % of the tokens."""
    moments = recorded() if moments is None else moments
    rows = [
        [f"{m.balance:g}", str(m.step), f"{m.loss:.2f}", f"{100 * max(m.shares):.0f} %",
         str(sum(share > 0.01 for share in m.shares))]
        for m in moments if m.step % (every * EVERY) == 0
    ]  # fmt: skip
    head = ["balancing loss counts", "after step", "loss", "largest share", "experts at work"]
    return Table(f"Router collapse: {EXPERTS} experts, top-1", head, rows)


if __name__ == "__main__":
    sys.stdout.write(written(computed()))
