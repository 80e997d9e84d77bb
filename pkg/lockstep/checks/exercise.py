"""An Exercise: what a learner is asked for, as data; and the register of all exercises.

    pkg/lockstep/exercises/TOPIC/FUNCTION/exercise.py     EXERCISE = Exercise(...)
                                          wrong/*.py      answers that learners give, each with what to tell them
                                          right/*.py      answers that are right in another way

What was observed of an answer is judged by ``default_judge.py``: the values by ``wanted``, what they cost by
``budgets``.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lockstep.checks.case import Case, Inputs
from lockstep.checks.once import Once
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.errors import UsageError

if TYPE_CHECKING:
    from lockstep.checks.budget import Budget
    from lockstep.checks.judge import Fault
    from lockstep.checks.observation import Seen
    from lockstep.dye import Dyed, Wanted

FOLDER = Path(__file__).parents[1] / "exercises"

# One a unit, in the order of the course.
TOPICS = (
    "why_parallel", "scikit_learn", "cpu", "gpu", "communication",
    "all_reduce_sgd", "without_waiting", "horovod", "fsdp", "pipeline", "tensor_parallel", "mixture_of_experts",
)  # fmt: skip

Kind = Literal["write", "mend", "catch"]
Symmetry = Literal["shift", "rotation", "root", "any"]

Compared = tuple[Sequence[Any], Sequence[Any], Sequence[Any]]  # tensors as they are, as they should be, as given

# Calls ``fn`` with the arguments and gives back evidence as plain data: None, numbers, text, tensors, and lists and
# dicts (with text keys) of these. It runs beside the learner's code, so it can be lied to; the judge knows that.
Watch = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Exercise:
    """What is asked, tried and allowed.

    ``cases(ranks, seed)`` lists what to try on a world of ``ranks`` ranks; ``inputs(case, rank)`` gives the positional
    arguments there. Of a pure exercise, which does not communicate, ``inputs`` is a list of calls, made on one rank.
    """

    title: str
    points: int
    minutes: int
    parameters: str  # "tensor, group=None"
    cases: Callable[[int, int], list[Case]]
    inputs: Inputs
    reference: str  # "lockstep.collectives:ring_all_reduce"
    number: int = 0  # its place in the lab
    kind: Kind = "write"
    core: bool = True  # or extra: for those who want more

    # ---- what is right
    wanted: Callable[[Case], Sequence[Any]] | None = None  # for each member of the group, None for any; for each call
    agrees: Callable[[Any, Any], bool] | None = None  # whether an answer is the wanted one; by default if it is equal
    rounding: float = 0.0  # how far a tensor may be off, relatively and absolutely; by default it is right to the bit
    kept: bool = False  # whether the arguments should hold the same bits afterwards
    asked: str = ""  # of a pure exercise what a call should give: "the speedup, a float,"
    none: str = ""  # what the answer None says, where it is one: "that no number of workers is enough"
    steps: Callable[..., str] | None = None  # of a call: the numbers on the way; told from the second attempt on
    examine: Callable[[Seen], Fault | None] | None = None  # what else may be wrong; it is looked at first
    values: float = 0.5  # share of the points for right values; the rest is for what they cost, if it is looked at
    nearly: float = 1.0  # share of a case's answers that earns its part of ``values``, though some are wrong
    shared: bool = False  # whether each right answer earns its share of that part
    alike: Callable[[Seen], Any] | None = None  # what two answers must share to be alike; by default their values
    footprint: Callable[[Seen], Any] | None = None  # what two right ones must share to cost alike; by default messages
    compared: Callable[[Seen], Compared] | None = None  # of a pure exercise: the tensors that its values are
    hints: Sequence[tuple[str, str]] = ()  # a pattern in an error of Python's, or "crashed:Stuck"; and what to do

    # ---- what it may cost
    by_hand: Sequence[str] = ()  # kinds of events that give the exercise away
    budgets: Sequence[Budget] = ()
    of: str = "this"  # what the budgets are of, in a sentence: "a ring"
    economise: Callable[[Seen], Sequence[Fault]] | None = None  # costs that no budget can say
    weighed: bool = False  # whether the bytes that a rank holds count, in whatever it keeps them

    # ---- who is in the result, where it is linear in the tensors
    dye: Callable[[Dyed, Case], Wanted] | None = None
    symmetry: Symmetry = "any"
    root: str = ""  # the setting that names the root, a global rank

    # ---- how it is observed
    worlds: tuple[int, ...] = (1, 2, 3, 4, 5, 8)
    rules: Rules = RENDEZVOUS  # of the backend that the virtual cluster stands for
    jitter: float = 0.0  # how much messages' times vary on the virtual cluster; each case then has a run of its own
    any_source: bool = False  # whether it has to receive from any source, as NCCL cannot: tensors stay on the host
    seconds: float = 5.0  # of host time for a case on the virtual cluster: a learner with an endless loop waits for it
    pure: bool = False
    watch: Watch | None = None  # how each call is made, on each rank, and what is written down of it
    real: bool = False  # whether it needs this machine's own clock, threads and processes
    needs: Callable[[], None] | None = None  # raises WorldUnavailable where what it cannot do without is missing
    loads: Sequence[str] = ()  # installed packages that answers import: loaded once, and not in each run
    beside: Watch | None = None  # how known answers are run beside the learner's, where ``watch`` would take long
    picture: Callable[[Seen], str] | None = None  # an SVG of the learner's own run; by default its timeline

    id: str = ""  # "communication.ring_all_reduce"; the register gives it

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
    def wrong(self) -> Path:
        """The folder of its known wrong answers."""
        return FOLDER / self.topic / self.function / "wrong"

    @property
    def right(self) -> Path:
        """The folder of answers that are right in another way."""
        return FOLDER / self.topic / self.function / "right"

    def reference_function(self) -> Callable[..., Any]:
        module, _, name = self.reference.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function


@cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises, in the order of the course."""
    return tuple(exercise for topic in TOPICS for exercise in _of(topic))


def _of(topic: str) -> list[Exercise]:
    found = []
    for path in sorted((FOLDER / topic).glob("*/exercise.py")):
        function = path.parent.name
        module = importlib.import_module(f"lockstep.exercises.{topic}.{function}.exercise")
        own, id = module.EXERCISE, f"{topic}.{function}"
        found.append(replace(own, id=id, inputs=Once(own.inputs, id), wanted=own.wanted and Once(own.wanted, id)))
    return sorted(found, key=lambda exercise: exercise.number)


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
