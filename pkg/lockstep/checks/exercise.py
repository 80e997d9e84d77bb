"""An Exercise: what a learner is asked for, as data; and the exercises of this package.

    pkg/lockstep/exercises/TOPIC/FUNCTION/exercise.py     EXERCISE = Exercise(...)
                                          wrong/*.py      answers that learners give, each with what to tell them
                                          right/*.py      answers that are right in another way

An Exercise has a core and six parts: Values, Costs, Contributions, Comparison, Run and Feedback. ``run_faults.py``
judges what was observed of an answer, by its Values and Costs.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from lockstep.checks.case import Case, Inputs
from lockstep.checks.listing import FOLDER, Kind, Named, listed
from lockstep.checks.once import Once
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.errors import UsageError

if TYPE_CHECKING:
    from lockstep.checks.budget import Budget
    from lockstep.checks.judge import Fault
    from lockstep.checks.observation import Failure, Seen
    from lockstep.dye import Dyed, Wanted

# One a unit, in the order of the course.
TOPICS = (
    "why_parallel", "scikit_learn", "cpu", "gpu", "communication",
    "all_reduce_sgd", "without_waiting", "horovod", "fsdp", "pipeline", "tensor_parallel", "mixture_of_experts",
    "hybrid", "bottlenecks",
)  # fmt: skip

Symmetry = Literal["shift", "rotation", "root", "any"]

Compared = tuple[Sequence[Any], Sequence[Any], Sequence[Any]]  # tensors as they are, as they should be, as given

# Calls ``fn`` with the arguments and returns a record of the call as plain data: None, numbers, text, tensors, and
# lists and dicts (with text keys) of these. It runs in the learner's process, so the learner's code can lie to it; the
# judge allows for that.
Watch = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Values:
    """Which results are right, and what share of the points they earn."""

    wanted: Callable[[Case], Sequence[Any]] | None = None  # for each member of the group, None for any; for each call
    agrees: Callable[[Any, Any], bool] | None = None  # whether an answer is the wanted one; by default if it is equal
    tolerance: float = 0.0  # how far a tensor may be off, relatively and absolutely; by default it is right to the bit
    may_change: Sequence[str] = ()  # of the arguments: "tensor.values", "x.shared"; all else stays as it is
    examine: Callable[[Seen], Fault | None] | None = None  # what else may be wrong; it comes before ``wanted``
    share: float = 0.5  # of the points, for right values; the rest is for ``Costs``, if there are any
    full_credit_from: float = 1.0  # fraction of a case's answers that must be right for its part of ``share``
    partial_credit: bool = False  # or else: each right answer earns its fraction of that part


@dataclass(frozen=True)
class Costs:
    """What a run with right values may cost, in bytes, messages, rounds, memory ..."""

    algorithm: str = "this"  # what the budgets are of, in a sentence: "a ring"
    budgets: Sequence[Budget] = ()
    economise: Callable[[Seen], Sequence[Fault]] | None = None  # costs that no budget can say
    forbidden: Sequence[str] = ()  # kinds of events that give the exercise away, such as "all_reduce"
    measure_memory: bool = False  # whether the bytes that a rank holds are counted, in whatever it keeps them


@dataclass(frozen=True)
class Contributions:
    """Whose tensors are in the result, and how often: for results that are linear in the ranks' tensors."""

    wanted: Callable[[Dyed, Case], Wanted] | None = None
    symmetry: Symmetry = "any"  # results that differ by this only are the same mistake
    root: str = ""  # the setting that names the root, a global rank; the symmetry is then "root"


@dataclass(frozen=True)
class Comparison:
    """When two answers are taken for the same, as a learner's and a known wrong one."""

    alike: Callable[[Seen], Any] | None = None  # what both must share to be alike; by default their values
    footprint: Callable[[Seen], Any] | None = None  # what two right ones must share to cost alike; by default messages
    tensors: Callable[[Seen], Compared] | None = (
        None  # the tensors that its values are, where it is pure or examines them itself
    )


@dataclass(frozen=True)
class Run:
    """How an answer is run, and how each call of it is recorded."""

    timeout: float = 5.0  # seconds of host time for a case on the virtual cluster: an endless loop takes all of them
    rules: Rules = RENDEZVOUS  # of the backend that the virtual cluster stands for
    jitter: float = 0.0  # how much messages' times vary on the virtual cluster; each case then has a run of its own
    any_source: bool = False  # whether it has to receive from any source, as NCCL cannot: tensors stay on the host
    real_machine: bool = False  # whether it needs this machine's own clock, threads and processes
    require: Callable[[], None] | None = None  # raises WorldUnavailable where what it cannot do without is missing
    preload: Sequence[str] = ()  # installed packages that answers import: loaded once, and not in each run
    watch: Watch | None = None  # makes and records each call, on each rank; by default what it returns is recorded
    compare_arguments: bool = True  # before and after each call; not where ``watch`` reads the function's code
    watch_known: Watch | None = None  # the same for known answers, where ``watch`` would take long
    follow: Callable[[Seen], Case | None] | None = (
        None  # pure: the case with one more call, which depends on the others
    )
    ends_well: Callable[[Case, Failure], Any] | None = None  # what stands for the result of a run that failed as wanted


@dataclass(frozen=True)
class Feedback:
    """Sentences and pictures for the learner, besides those that the judge makes itself."""

    answer: str = ""  # of a pure exercise, what a call should return: "the speedup, a float,"
    none_means: str = ""  # what the answer None says, where it is one: "that no number of workers is enough"
    steps: Callable[..., str] | None = None  # of a call: the numbers on the way; shown from the second attempt on
    remark: Callable[..., str] | None = None  # of a wrong answer and its call: what is true of it, or ""
    apart: Callable[[Any, Any], str] | None = None  # of a wrong answer and the right one: in place of "x; it is y"
    hints: Sequence[tuple[str, str]] = ()  # a pattern in an error of Python's, or "crashed:Stuck"; and what to do
    picture: Callable[[Seen], str] | None = None  # an SVG of the learner's own run; by default its timeline
    call: Callable[[Sequence[Any]], str] | None = None  # a call as text, in place of what ``calls.told_call`` makes


@dataclass(frozen=True)
class Exercise(Named):
    """What is asked and tried; and, in its parts, how an answer is run, judged, compared and explained.

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
    worlds: tuple[int, ...] = (1, 2, 3, 4, 5, 8)
    pure: bool = False

    values: Values = field(default_factory=Values)
    costs: Costs = field(default_factory=Costs)
    contributions: Contributions = field(default_factory=Contributions)
    comparison: Comparison = field(default_factory=Comparison)
    run: Run = field(default_factory=Run)
    feedback: Feedback = field(default_factory=Feedback)

    id: str = ""  # "communication.ring_all_reduce"; the register gives it

    @property
    def signature(self) -> str:
        return f"{self.function}({self.parameters})"

    @property
    def in_place(self) -> bool:
        """Whether its result may be its first argument, changed."""
        return f"{self.parameters.partition(',')[0]}.values" in self.values.may_change

    @property
    def solved(self) -> bool:
        """Whether its reference is here. A learner has a plain exercise without it."""
        return True

    def reference_function(self) -> Callable[..., Any]:
        module, _, name = self.reference.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function


@cache
def exercises() -> tuple[Exercise, ...]:
    """All of this package, in the course's order. Each is imported: ``listing.listed()`` tells of them without that."""
    return tuple(exercise for topic in TOPICS for exercise in _of(topic))


def _of(topic: str) -> list[Exercise]:
    functions = sorted(path.parent.name for path in (FOLDER / topic).glob("*/exercise.py"))
    return sorted((_imported(topic, function) for function in functions), key=lambda exercise: exercise.number)


@cache
def _imported(topic: str, function: str) -> Exercise:
    """The exercise of that folder, which alone is imported."""
    own, id = importlib.import_module(f"lockstep.exercises.{topic}.{function}.exercise").EXERCISE, f"{topic}.{function}"
    values = replace(own.values, wanted=own.values.wanted and Once(own.values.wanted, id))
    found: Exercise = replace(own, id=id, inputs=Once(own.inputs, id), values=values)
    return found


def find(id: str) -> Exercise:
    """The exercise of this package with that id, "communication.ring_all_reduce". No other is imported.

    Raises UsageError if there is none, with the ids that are like it."""
    if not isinstance(id, str):
        raise UsageError(f'The exercise is named by a string, such as "{listed()[0].id}"; this is {type(id).__name__}.')
    topic, _, function = id.partition(".")
    if not is_there(topic, function):
        raise UsageError(f"There is no exercise {id!r}.", _advice(id))
    return _imported(topic, function)


def is_there(topic: str, function: str) -> bool:
    """Whether this package has such an exercise."""
    return topic in TOPICS and function.isidentifier() and (FOLDER / topic / function / "exercise.py").is_file()


def _advice(id: str) -> str:
    functions = {e.function: e.id for e in listed()}
    near = difflib.get_close_matches(id, functions.values(), 3)
    near += [functions[f] for f in difflib.get_close_matches(id.rpartition(".")[2], functions, 3)]
    meant = list(dict.fromkeys(near))
    return f"Did you mean {' or '.join(meant)}?" if meant else "`lockstep units` lists them all."
