"""A step as the planner computes it, beside the same step simulated, item by item: where the two disagree, the item is
named.

    planner      sums formulas for a GPU of the last stage, which never waits once it has begun
    simulation   plays every instruction; its parts are an average rank's, so what the last stage alone computes, the
                 scores of the vocabulary, is bubble to the others

Both take the same calibrated device, and neither knows the other's rules: formulas for exposed communication and for
the bubble on one side, ports, links and the order of events on the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from lockstep.errors import UsageError
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import SimulatedStep
from lockstep.planner.cases import a100, gpt
from lockstep.planner.plans import Job, Plan
from lockstep.planner.stacks import STACKS
from lockstep.planner.step import Estimate, estimate

NAMES: Mapping[str, str] = {
    "compute": "computing",
    "tp": "tensor parallel",
    "cp": "context parallel",
    "dp": "data parallel",
    "ep": "experts' exchange",
    "pp": "pipeline messages",
    "bubble": "bubble",
}


class Item(NamedTuple):
    """Seconds of a step that went into one item. ``name``: a key of NAMES, as in ``SimulatedStep.parts``."""

    name: str
    planned: float
    simulated: float

    @property
    def difference(self) -> float:
        return self.planned - self.simulated


def planned(model: GPTSize, grid: Grid, chunks: int, micro_batches: int, stack: str = "megatron-2022") -> Estimate:
    """The planner's step of this grid on DGX A100 with this software. Raises UsageError for unknown software. Of a
    mixture both take as given that tokens choose their experts evenly."""
    if stack not in STACKS:
        raise UsageError(f"There is no software {stack!r}.", f"Choose among {', '.join(STACKS)}.")
    batch = grid.dp * grid.micro_batch * micro_batches
    shape = replace(
        gpt(model.layers, model.hidden, model.heads, model.seq, model.vocab), experts=model.experts,
        top_k=model.top_k, expert_ffn=model.expert_ffn,
    )  # fmt: skip
    job = Job(shape, a100(grid.ranks), batch, dispatch="fp8" if model.dispatch == "fp8" else "bf16")
    plan = Plan(
        grid.dp, grid.tp, grid.pp, chunks, grid.ep, grid.cp, grid.zero, grid.micro_batch, grid.recompute,
        grid.sequence_parallel, grid.overlap,
    )  # fmt: skip
    return estimate(job, plan, STACKS[stack])


def items(found: Estimate, step: SimulatedStep) -> list[Item]:
    """Item by item; they add up to the two times. What the planner knows as recomputation, optimizer and waiting for
    the host is computing here."""
    computing = found.computing + found.recomputing + found.host + found.optimizer
    seconds = {"compute": computing, "bubble": found.bubble, **found.communication}
    return [Item(name, seconds[name], step.parts[name]) for name in NAMES]


def told(rows: Sequence[Item]) -> str:
    """In which item the two differ most, as a sentence."""
    by_plan, simulated = (sum(getattr(row, side) for row in rows) for side in ("planned", "simulated"))
    most = max(rows, key=lambda row: abs(row.difference))
    return (
        f"Planned {by_plan:.2f} s, simulated {simulated:.2f} s. They differ most in {NAMES[most.name]}: "
        f"{most.planned:.2f} and {most.simulated:.2f} s."
    )
