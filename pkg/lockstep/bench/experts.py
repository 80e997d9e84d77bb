"""The course's ExpertParallelMoE beside a layer of torch's own parts: a training step each, on processes and gloo.

torch has no mixture of experts: ``experts.beside_torch`` puts one together, with its all-to-all and its grouped matrix
product, where ours computes one expert after the other. The transfers are gloo's in both. The same layer takes turns: a
step of ours, one of torch's, and one of ranks that have all experts and talk to nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import nn

from lockstep.bench.ddp import REPEATS
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.turns import RANKS, RATIO, Seconds, Steps, crowded, measured, steps_of, times
from lockstep.experiments.mixture_of_experts.compared_with_torch import Theirs
from lockstep.experts.dense import SerialMoE
from lockstep.experts.expert_parallel import ExpertParallelMoE
from lockstep.experts.gate import TopKGate


class Case(NamedTuple):
    """A layer of ``experts``, ``k`` for a token, each with a hidden layer of 4·width; tokens of a rank."""

    width: int
    experts: int
    k: int
    tokens: int

    @property
    def gate(self) -> TopKGate:
        return TopKGate(self.width, self.experts, self.k)


SMALL, MANY, LARGE = Case(64, 8, 2, 128), Case(64, 64, 2, 512), Case(512, 8, 2, 512)
CASES: Mapping[Size, tuple[Case, ...]] = {
    "quick": (SMALL,),
    "normal": (SMALL, MANY, LARGE),
    "full": (SMALL, MANY, LARGE),
}


def tables(size: Size) -> list[Table]:
    return [table(ranks, size) for ranks in RANKS[size]]


def table(ranks: int, size: Size) -> Table:
    rows = [row(case, measured(layers(case), ranks, REPEATS[size])) for case in CASES[size]]
    notes = [
        f"Medians of {REPEATS[size]} steps, in turn: the slowest rank's time. {RATIO} At most 1.5 is wanted.",
    ]
    title = f"experts: a training step of {ranks} ranks, ExpertParallelMoE beside torch's parts"
    return Table(title, rows, notes + crowded(ranks))


def row(case: Case, found: Seconds) -> Row:
    size: Row = {"experts": f"{case.experts} of {case.width}", "tokens": case.tokens}
    return {**size, **times(found)}


def layers(case: Case) -> Steps:
    hidden = 4 * case.width
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: ExpertParallelMoE(case.gate, hidden),
        "torch's": lambda: Theirs(case.width, hidden, case.experts, case.k),
        "alone": lambda: SerialMoE(case.gate, hidden),
    }
    return steps_of(models, (case.tokens, case.width))
