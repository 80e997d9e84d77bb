"""Recorded results of runs that take longer than a cell should: the losses of the twelve programs of ``bugs``, and the
activations that a rank keeps of Korthikanti's layer (``published``).

Both are in files of the course. The runs are on the virtual cluster, so they are the same on every machine but for
rounding; the twelve programs train on Python's own source, which differs from version to version.

    python -m lockstep.tensor_parallel.recorded       records both files anew: about a minute
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from lockstep.cost.tensor_parallel import published_activations
from lockstep.tables import published
from lockstep.tally import counted
from lockstep.tensor_parallel.bugs import RIGHT, STEPS, WRONG, train
from lockstep.tensor_parallel.linear import PLAIN
from lockstep.tensor_parallel.published import GPT_22B, a_layer
from lockstep.tensor_parallel.sequence import SEQUENCE
from lockstep.worlds import run

MANY = (1, 2, 4, 8)
STYLES = {"tensor": PLAIN, "sequence": SEQUENCE}
PROVENANCE = "# provenance: simulated, virtual cluster; python -m lockstep.tensor_parallel.recorded makes it anew."
LOSSES, KEPT = "losses_of_twelve.csv", "kept_22b.csv"
ABOUT = {
    LOSSES: f"""\
# Twelve programs train the GPT of tensor_parallel.bugs.SIZES on 4 ranks, {STEPS} steps of gradient descent on Python's
# own source. Rank 0's first loss, and the mean of its last {STEPS // 4}.
""",
    KEPT: """\
# MB of activations that a rank keeps of one layer of the 22B model (arXiv:2205.05198): 4 x 2,048 tokens, 6,144 wide,
# 64 heads, bfloat16, with scores and dropout; by trace.
""",
}


class Loss(NamedTuple):
    """A program, by its name in ``bugs``: rank 0's first loss, and the mean of its last quarter."""

    program: str
    right: bool
    first: float
    last: float


class Kept(NamedTuple):
    """MB of activations that a rank keeps of the layer on K ranks: by trace, and by the paper's formula."""

    way: str
    K: int
    traced: float
    formula: float


def losses() -> list[Loss]:
    rows = published("tensor_parallel", LOSSES)
    return [Loss(r["program"], r["program"] in RIGHT, float(r["first"]), float(r["last"])) for r in rows]


def kept() -> list[Kept]:
    rows = published("tensor_parallel", KEPT)
    return [Kept(r["way"], int(r["ranks"]), float(r["MB"]), formula(r["way"], int(r["ranks"]))) for r in rows]


def formula(way: str, K: int) -> float:
    """Equations 1, 2 and 4 of the paper, in MB."""
    return published_activations(*GPT_22B._replace(K=K), sequence=way == "sequence") / 1e6


def alike() -> float:
    """MB that tensor parallelism replicates on every rank: 10 bytes for each number of the layer's input."""
    return 10 * GPT_22B.b * GPT_22B.T * GPT_22B.h / 1e6


# ---- the runs


def run_losses() -> str:
    lines = []
    for name, program in counted({**RIGHT, **WRONG}.items(), "Training", each=2.5):
        found: list[float] = run(train, program, ranks=4, on="dgx-a100").values[0]
        lines.append(f"{name},{found[0]:.3f},{sum(found[-STEPS // 4 :]) / (STEPS // 4):.3f}")
    return "\n".join([ABOUT[LOSSES] + PROVENANCE, "program,first,last", *lines, ""])


def run_kept() -> str:
    lines = [
        f"{way},{K},{a_layer(GPT_22B._replace(K=K), style) / 1e6:.1f}" for way, style in STYLES.items() for K in MANY
    ]
    return "\n".join([ABOUT[KEPT] + PROVENANCE, "way,ranks,MB", *lines, ""])


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "data"
    for file, make in ((LOSSES, run_losses), (KEPT, run_kept)):
        (folder / file).write_text(make())
