"""Router collapse: without a balancing loss one expert gets all tokens; with it, all experts keep learning.

An expert that gets a few more tokens is trained more, so it is better, so the gate sends it more: the rich get richer.
The others get no tokens, so no gradient, and never catch up. What remains is the dense model with a gate, and the
memory of E - 1 of E experts is wasted. To see it within 200 steps takes a high learning rate: at 0.003 the largest
share is 0.6.

These runs show where tokens go, not that experts help: in so short a training of so small a model experts hardly change
the loss. At 0.003 the dense model's loss is as low as the mixture's, balanced or not.

The runs are recorded in the course's file: ``python -m lockstep.experts.collapse`` recomputes it, in half a minute.

Source: Shazeer et al., arXiv:1701.06538, section 4: "self-reinforcing".
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from lockstep.experts.training import EXPERTS, dense_losses, trained
from lockstep.tables import Table, published

RATE, SEED, STEPS = 0.02, 1, 200
DENSE = "dense"
WAYS = {"without": 0.0, "with": 0.01, DENSE: None}  # the weight of the balancing loss
EVERY = 10  # steps to average over
FILE = "collapse.csv"
PROVENANCE = f"""\
# Shares of {EXPERTS} experts in the tokens of a GPT whose second block is a mixture, top-1, and its loss (nats a byte);
# of the same GPT without experts, the loss: means of {EVERY} steps of Adam at {RATE}, seed {SEED}, on the source of
# Python's standard library.
# provenance: computed, on a CPU; python -m lockstep.experts.collapse computes this file anew.
"""


class Moment(NamedTuple):
    way: str  # "with" the balancing loss, "without" it, or "dense": no experts at all
    step: int  # the last of those averaged
    loss: float
    shares: tuple[float, ...]  # of each expert; () if there are none


def recorded() -> list[Moment]:
    """The runs in the course's file."""
    names = [f"expert_{i}" for i in range(EXPERTS)]
    return [
        Moment(row["way"], int(row["step"]), float(row["loss"]), tuple(float(row[n]) for n in names if row[n]))
        for row in published("experts", FILE)
    ]


def computed(steps: int = STEPS) -> list[Moment]:
    """The same runs, computed now."""
    found = []
    for way, balance in WAYS.items():
        if balance is None:
            losses, shares = dense_losses(RATE, steps, SEED), list[list[float]]()
        else:
            _, losses, shares = trained(balance, RATE, steps, SEED)
        for first in range(0, steps, EVERY):
            some = losses[first : first + EVERY]
            means = tuple(sum(s) / len(some) for s in zip(*shares[first : first + EVERY], strict=True))
            found.append(Moment(way, first + len(some), sum(some) / len(some), means))
    return found


def written(moments: Sequence[Moment]) -> str:
    """The text of the course's file with these runs."""
    head = ",".join(["way", "step", "loss", *(f"expert_{i}" for i in range(EXPERTS))])
    shares = {m: [f"{share:.4f}" for share in m.shares] or [""] * EXPERTS for m in moments}
    lines = [",".join([m.way, f"{m.step}", f"{m.loss:.4f}", *shares[m]]) for m in moments]
    return "\n".join([PROVENANCE + head, *lines, ""])


def collapse_table(moments: Sequence[Moment] | None = None, every: int = 5) -> Table:
    """The largest expert's share, with and without the loss, and the number of experts with more than 1 % of the
    tokens."""
    moments = recorded() if moments is None else moments
    rows = [
        [m.way, str(m.step), f"{m.loss:.2f}", f"{100 * max(m.shares):.0f} %" if m.shares else "",
         str(sum(share > 0.01 for share in m.shares)) if m.shares else ""]
        for m in moments if m.step % (every * EVERY) == 0
    ]  # fmt: skip
    head = ["balancing loss", "after step", "loss", "largest share", "experts at work"]
    return Table(f"Router collapse: {EXPERTS} experts, top-1", head, rows)


if __name__ == "__main__":
    sys.stdout.write(written(computed()))
