"""The results of lesson 07's demos as tables. Each takes what its demo returns, run here or recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.experiments.horovod.control_messages import control
from lockstep.experiments.horovod.cost_of_negotiating import ELEMENTS, cost_of_negotiating, step
from lockstep.tables import Table
from lockstep.with_horovod.negotiation import negotiate_with_cache
from lockstep.worlds import run

Found = dict[str, Any]
Say = Callable[[Found], str]


def forgotten_table(found: Found) -> Table:
    """``demos.forgotten``: for each missing part, what four ranks did and what they should have done."""
    whole = found["whole"]
    told: dict[str, Say] = {
        "sampler": lambda r: f"{r['times']} ranks use the same example in an epoch, not {whole['times']}",
        "set_epoch": lambda r: f"{r['orders']} order in four epochs, not {whole['orders']}",
        "wrap": lambda r: f"each rank trains alone: weights differ by up to {r['spread']:.2f}",
        "broadcast": lambda r: f"the same steps from different places: weights differ by up to {r['spread']:.2f}",
        "rate": lambda r: f"after as many steps the loss is {r['loss']:.2f}, not {whole['loss']:.2f}",
        "save": lambda r: f"{r['files']} ranks write the same file, not {whole['files']}",
    }
    names = {"wrap": "average"}
    rows = [[names.get(r["part"], r["part"]), told[r["part"]](r), _yes(r["spread"] == 0)] for r in found["rows"]]
    return Table("One part left out, on four ranks", ["without", "what happens", "weights alike"], rows)


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def fused_table(found: Found) -> Table:
    """``demos.fused``: the operations, and how many gradients each carries."""
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
    """``demos.join``: three ranks, with one more of them joined in each step."""
    ranks = len(found["steps"])
    rows = [[f"{n}", f"{ranks - n}", f"{sum_:g}", f"{mean:.3f}"] for n, (sum_, mean) in enumerate(found["steps"])]
    return Table("Each rank adds 1", ["step", "ranks that take part", "sum", "“mean”"], rows)


def elastic_table(found: Found) -> Table:
    """``demos.elastic``: what happened, as seen by worker 0."""
    rows = [
        [" ".join(map(str, r["steps"])), " ".join(map(str, r["sizes"])), f"{r['commits']}", _yes(r["same"])]
        for r in found["runs"]
    ]
    head = ["steps, as worker 0 takes them", "ranks in each", "commits", "ends as serial training does"]
    return Table("The same runs, step by step", head, rows)


def negotiation_table(ranks: int = 8, gradients: int = 40, cached: bool = False) -> Table:
    """The cost of a step's negotiation, next to its all-reduces, on a virtual cluster: of the first step, or,
    ``cached``, of the next one as well."""
    names = {"in order": "all agree before", "coordinator": "coordinator"}
    if cached:
        names["cache"] = "the next step, from the cache"
    counted = {way.way: way for way in cost_of_negotiating(ranks, gradients)}
    rows = [[name, f"{counted[way].collectives}", f"{counted[way].nbytes:,}"] for way, name in names.items()]
    head = ["way", "collectives beside the all-reduces", "bytes that come in at rank 0"]
    return Table(f"One step: {ranks} ranks, {gradients} gradients, 8 ready in each cycle", head, rows)


def told_by_bits(gradients: int) -> int:
    """The bytes by which a rank reports which of so many cached gradients it has ready."""

    def two_steps() -> None:
        negotiate_with_cache(step(gradients, gradients) for _ in range(2))

    said = control(run(two_steps, ranks=2, on="virtual").trace, (4 * ELEMENTS,))
    return max(event.nbytes for event in said if event.kind == "all_reduce")
