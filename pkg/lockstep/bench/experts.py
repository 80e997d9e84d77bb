"""The course's ExpertParallelMoE against a layer of torch's own parts: a training step each, on processes and gloo.

torch has no mixture of experts: ``experiments.mixture_of_experts.compared_with_torch`` puts one together, with its
all-to-all and its grouped matrix product, where ours computes one expert after the other. gloo carries the messages in
both. The same layer takes turns: a step of ours, one of torch's, and one of ranks that have all experts and do not
communicate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import nn

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.training_steps import Steps, by_size, compared, steps_of
from lockstep.experiments.mixture_of_experts.compared_with_torch import Theirs
from lockstep.experts.expert_parallel import ExpertParallelMoE
from lockstep.experts.gate import TopKGate
from lockstep.experts.serial import SerialMoE


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
CASES = by_size(quick=(SMALL,), otherwise=(SMALL, MANY, LARGE))


def tables(size: Size) -> list[Table]:
    title = "experts: a training step of {ranks} ranks, ExpertParallelMoE beside torch's parts"
    return compared(size, title, CASES[size], columns, steps)


def columns(case: Case) -> Row:
    return {"experts": f"{case.experts} of {case.width}", "tokens": case.tokens}


def steps(case: Case) -> Steps:
    hidden = 4 * case.width
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: ExpertParallelMoE(case.gate, hidden),
        "torch's": lambda: Theirs(case.width, hidden, case.experts, case.k),
        "alone": lambda: SerialMoE(case.gate, hidden),
    }
    return steps_of(models, lambda: (case.tokens, case.width))
