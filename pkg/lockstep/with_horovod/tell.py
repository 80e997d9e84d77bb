"""What the demos of lesson 07 found, as tables. Each takes what its demo gives, run here or recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.tables import Table
from lockstep.with_horovod.control import control
from lockstep.with_horovod.cost_of_negotiating import ELEMENTS, cost_of_negotiating, step
from lockstep.with_horovod.response_cache import negotiate_with_cache
from lockstep.worlds import run

Found = dict[str, Any]
Say = Callable[[Found], str]


def forgotten_table(found: Found) -> Table:
    """``six_steps.all_forgotten``: without each step, one fact about what three ranks then did."""
    whole, rows = found["rows"][0], {row["step"]: row for row in found["rows"]}
    told: dict[str, Say] = {
        "init": lambda row: f"the script stops: “{row['error']}”",
        "shard": lambda row: (
            f"{row['twice']} of {found['examples']} examples are used more than once in the first epoch; "
            f"a rank makes {row['passes']} steps in it, not {whole['passes']}"
        ),
        "rate": lambda row: (
            f"the first step moves the weights by {row['moved'] / whole['moved']:.2f} of what it should"
        ),
        "average": lambda row: f"each rank trains alone: weights differ by up to {row['apart']:.2f}",
        "broadcast": lambda row: (
            f"all add the same, to different beginnings: weights differ by up to {row['apart']:.2f}"
        ),
        "save": lambda row: f"{row['saves']} ranks write the same file",
    }
    lines = [
        [step, say(rows[step]), "" if rows[step]["error"] else _yes(rows[step]["alike"])] for step, say in told.items()
    ]
    return Table("Without one step, on three ranks", ["without", "what happens", "weights alike"], lines)


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def fused_table(found: Found) -> Table:
    """``demos.fused``: operations, and how many gradients each carries."""
    rows = [[r["setting"], f"{len(r['carries'])}", ", ".join(map(str, sorted(set(r["carries"]), reverse=True)))]
            for r in found["rows"]]  # fmt: skip
    head = ["Horovod's buffer", "all-reduces", "gradients in each"]
    return Table(f"{found['gradients']} gradients of 9,000 bytes, ready in one cycle", head, rows)


def half_precision_table(found: Found) -> Table:
    rows = [["fp16" if r["fp16"] else "none", r["travelled"], f"{r['error']:.1e}"] for r in found["rows"]]
    return Table("A float32 gradient", ["compression", "travels as", "largest relative error of the mean"], rows)


def process_sets_table(found: Found) -> Table:
    rows = [[f"{rank}", f"{everyone:g}", f"{pair:g}"] for rank, (everyone, pair) in enumerate(found["rows"])]
    return Table("Each rank adds its own number", ["rank", "sum of all ranks", "sum of its pair"], rows)


def join_table(found: Found) -> Table:
    """``demos.join``: three ranks, of which one more has joined in each step."""
    ranks = len(found["steps"])
    rows = [[f"{n}", f"{ranks - n}", f"{sum_:g}", f"{mean:.3f}"] for n, (sum_, mean) in enumerate(found["steps"])]
    return Table("Each rank adds 1", ["step", "ranks that take part", "sum", "“mean”"], rows)


def elastic_table(found: Found) -> Table:
    """``demos.elastic``: what worker 0 saw."""
    rows = [
        [" ".join(map(str, r["steps"])), " ".join(map(str, r["sizes"])), f"{r['commits']}", _yes(r["same"])]
        for r in found["runs"]
    ]
    head = ["steps, as worker 0 takes them", "ranks in each", "commits", "ends as serial training does"]
    return Table("The same runs, step by step", head, rows)


def negotiation_table(ranks: int = 8, gradients: int = 40) -> Table:
    """What a step's negotiation costs beside its all-reduces, on a virtual cluster."""
    names = {"in order": "all agree before", "coordinator": "coordinator", "cache": "the next step, from the cache"}
    rows = [[names[way.way], f"{way.collectives}", f"{way.nbytes:,}"] for way in cost_of_negotiating(ranks, gradients)]
    head = ["way", "collectives beside the all-reduces", "bytes that come in at rank 0"]
    return Table(f"One step: {ranks} ranks, {gradients} gradients, 8 ready in each cycle", head, rows)


def told_by_bits(gradients: int) -> int:
    """The bytes by which a rank says which of so many cached gradients it has ready."""

    def two_steps() -> None:
        negotiate_with_cache(step(gradients, gradients) for _ in range(2))

    said = control(run(two_steps, ranks=2, on="virtual").trace, (4 * ELEMENTS,))
    return max(event.nbytes for event in said if event.kind == "all_reduce")
