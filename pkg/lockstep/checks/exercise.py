"""An Exercise: what a learner is asked for, with the three parts of its check; and the register of all exercises."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockstep.checks.case import Case, Inputs
from lockstep.errors import UsageError

if TYPE_CHECKING:
    from lockstep.checks.judge import Finding
    from lockstep.checks.observation import Observation, Seen

# One package a unit, each with a tuple EXERCISES.
TOPICS = ("why_parallel", "scikit_learn", "cpu", "gpu", "communication")

# Calls ``fn`` with the arguments and gives back evidence as plain data: None, numbers, text, tensors, and lists and
# dicts (with text keys) of these. It runs beside the learner's code, so it can be lied to; the judge knows that.
Watch = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Exercise:
    """``cases(ranks, seed)`` lists what to try on a world of ``ranks`` ranks; ``inputs(case, rank)`` gives the
    positional arguments there; ``judge(observation)`` is pure: it sees only plain data, and rebuilds inputs from the
    seed."""

    id: str  # "communication.ring_all_reduce"
    title: str
    points: int
    minutes: int
    parameters: str  # "tensor, group=None"
    cases: Callable[[int, int], list[Case]]
    inputs: Inputs
    judge: Callable[[Observation], list[Finding]]
    reference: str  # "lockstep.collectives:ring_all_reduce"
    worlds: tuple[int, ...] = (1, 2, 3, 4, 5, 8)
    forbidden: tuple[str, ...] = ()  # kinds of events that give the exercise away
    seconds: float = 5.0  # of host time for a case on the virtual cluster: a learner with an endless loop waits for it
    pure: bool = False  # no communication: inputs is a list of calls, made on one rank
    watch: Watch | None = None  # how each call of a pure exercise is made, and what is written down of it
    real: bool = False  # a pure exercise that needs this machine's own clock, threads and processes
    picture: Callable[[Seen], str] | None = None  # an SVG of the learner's own run; by default its timeline

    @property
    def topic(self) -> str:
        return self.id.partition(".")[0]

    @property
    def function(self) -> str:
        return self.id.partition(".")[2]

    @property
    def signature(self) -> str:
        return f"{self.function}({self.parameters})"

    @property
    def mutants(self) -> str:
        """Known-wrong answers, relative to the project's root."""
        return f"tests/mutants/{self.topic}/{self.function}"

    @property
    def alternatives(self) -> str:
        """Answers that are right in another way, relative to the project's root."""
        return f"tests/alternatives/{self.topic}/{self.function}"

    def reference_function(self) -> Callable[..., Any]:
        module, _, name = self.reference.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function


def exercises() -> list[Exercise]:
    """All exercises, in the order of the course."""
    modules = (importlib.import_module(f"lockstep.checks.{topic}") for topic in TOPICS)
    return [exercise for module in modules for exercise in module.EXERCISES]


def find(id: str) -> Exercise:
    """The exercise of that id, as in ``find("communication.ring_all_reduce")``."""
    by_id = {e.id: e for e in exercises()}
    if not isinstance(id, str):
        raise UsageError(
            f'The exercise is named by a string, such as "{next(iter(by_id))}"; this is {type(id).__name__}.'
        )
    if id not in by_id:
        raise UsageError(f"There is no exercise {id!r}.", _advice(id, by_id))
    return by_id[id]


def _advice(id: str, by_id: dict[str, Exercise]) -> str:
    functions = {e.function: e.id for e in by_id.values()}
    near = difflib.get_close_matches(id, by_id, 3)
    near += [functions[f] for f in difflib.get_close_matches(id.rpartition(".")[2], functions, 3)]
    meant = list(dict.fromkeys(near))
    return f"Did you mean {' or '.join(meant)}?" if meant else "`lockstep units` lists them all."
