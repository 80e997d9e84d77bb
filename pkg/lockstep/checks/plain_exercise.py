"""A plain file becomes an `Exercise`, which is run, judged, graded and explained as any other.

Each of its cases is a `Case`: one call, or on ranks one call on each of them. Each of its ``check_...`` functions is
one, too, whose calls become known one after the other (``plain_checks.py``). What a call should give never leaves this
process.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.likeness import Difference, difference, shown, shown_exactly
from lockstep.checks.load import FromFile, load_text
from lockstep.checks.observation import Failure, Seen
from lockstep.checks.plain import Other
from lockstep.checks.plain_checks import MOST, Replay, replayed
from lockstep.checks.plain_file import CHECK, WRONG, PlainFile, Tried
from lockstep.checks.returned import as_data, on_rank, value_of, watch
from lockstep.checks.transport import decoded, encoded
from lockstep.checks.wording import counted
from lockstep.errors import UsageError

EASILY_SEEN = 30  # characters of two values, in which nobody needs to be told where they differ


@dataclass(frozen=True)
class Raised:
    """In place of what a call returns that raised something, where that is wanted. Two are alike if they raised the
    same, whatever the lines that are ``told``."""

    exception: str
    wanted: bool
    told: str = field(compare=False)


@dataclass(frozen=True)
class PlainExercise(Exercise):
    """An exercise that is one file of a teacher's. Its ``reference`` is in no module: in its place stands the one
    that could read such a file, so that no answer may."""

    file: PlainFile | None = None

    @property
    def plain(self) -> PlainFile:
        assert self.file is not None
        return self.file

    @property
    def solved(self) -> bool:
        return not self.plain.handed_out

    def reference_function(self) -> FromFile:
        return self.loaded(self.function)

    def loaded(self, name: str) -> FromFile:
        """A function of the file, with what it needs of it."""
        return load_text(self.plain.text, self.plain.path, name)


def exercise_of(file: PlainFile) -> PlainExercise:
    """Raises UsageError where a result is expected that nobody can compare."""
    tried = [_comparable(file, one) for one in file.cases]
    file = replace(file, cases=tuple(tried))
    takes_group = "group" in file.parameters
    return PlainExercise(
        id=file.id,
        file=file,
        title=file.title,
        points=file.points,
        minutes=file.minutes,
        number=file.number,
        core=file.core,
        parameters=file.signature,
        reference="lockstep.checks.plain_file:read",
        cases=partial(_cases, file),
        inputs=partial(_inputs, file),
        worlds=(file.ranks or 1,),
        pure=file.ranks is None,
        values=Values(examine=partial(_examine, file), share=1.0, may_change=_may_change(file)),
        run=Run(
            watch=watch if file.ranks is None or takes_group else on_rank,
            follow=partial(_follow, file) if file.checks else None,
            ends_well=partial(_ends_well, file),
        ),
        feedback=Feedback(call=partial(_told_call, file)),
    )


def _comparable(file: PlainFile, one: Tried) -> Tried:
    """With what it expects as it would come from a call: numpy's numbers as Python's, say."""
    if _is_exception(one.wanted):
        return one
    if file.ranks and isinstance(one.wanted, dict) and set(one.wanted) == set(range(file.ranks)):
        wanted: Any = {rank: value_of(as_data(value)) for rank, value in one.wanted.items()}
    else:
        wanted = value_of(as_data(one.wanted))
    if found := _other_in(wanted):
        raise UsageError(
            f"{file.at(one.line)}: nobody can compare an answer with a {found.type}.",
            "Expected are numbers, text, tensors, arrays, and lists, tuples, dicts and sets of these.",
        )
    return replace(one, wanted=wanted)


def _other_in(value: Any) -> Other | None:
    if isinstance(value, Other):
        return value
    parts: Sequence[Any] = ()
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set)):
        parts = list(value)
    return next((found for part in parts if (found := _other_in(part))), None)


def _may_change(file: PlainFile) -> list[str]:
    """A result may be an argument, or a part of one."""
    kinds = ("type", "length", "order", "shape", "values", "requires_grad", "gradient", "hooks", "mode")
    shared = [f"{name}.shared" for name in file.parameters]
    return shared + [f"{name}.{kind}" for name in file.may_change for kind in kinds]


# ---- what is tried


def _cases(file: PlainFile, ranks: int, seed: int) -> list[Case]:
    """One for each case, and one for each check."""
    if file.ranks and ranks != file.ranks:
        raise UsageError(f"{file.id} is tried on {counted(file.ranks, 'rank')}, and not on {ranks}.")
    listed = [
        Case(ranks, seed, None, {"told": one.told, "alone": True, "number": number, "line": one.line})
        for number, one in enumerate(file.cases)
    ]
    checks = [
        Case(
            ranks,
            seed,
            None,
            {"told": f'the check "{_in_words(name, check)}"', "alone": True, "check": name, "line": line},
        )
        for name, check in file.checks.items()
        for line in [check.__code__.co_firstlineno]
    ]
    return listed + checks


def _in_words(name: str, check: Callable[..., Any]) -> str:
    """Its docstring, a sentence or not, or else its name."""
    first = (check.__doc__ or "").strip().partition("\n")[0].strip().rstrip(".")
    return first or name.removeprefix(CHECK).replace("_", " ").strip()


def _inputs(file: PlainFile, case: Case, rank: int) -> Sequence[Any]:
    """The calls of a case; on ranks the arguments of this one."""
    if "check" in case.settings:
        return _replay(file, case, _answers(case)).calls
    arguments = tuple(_on_rank(file, value, rank) for value in file.cases[case.settings["number"]].arguments)
    return arguments if file.ranks else (arguments,)


def _on_rank(file: PlainFile, value: Any, rank: int) -> Any:
    """A dict whose keys are the ranks has a value for each of them; anything else is the same on all."""
    by_rank = file.ranks and isinstance(value, dict) and set(value) == set(range(file.ranks))
    return value[rank] if by_rank else value


def _replay(file: PlainFile, case: Case, answers: Sequence[Any]) -> Replay:
    return replayed(file.checks[case.settings["check"]], partial(_bound, file), answers, case.seed)


def _bound(file: PlainFile, *given: Any, **named: Any) -> tuple[Any, ...]:
    """The arguments of a call in their order."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    free = inspect.Parameter.empty
    rows = [inspect.Parameter(n, kind, default=file.defaults.get(n, free)) for n in file.parameters]
    return inspect.Signature(rows).bind(*given, **named).args


def _answers(case: Case) -> list[Any]:
    """What the calls of a check have given so far. It is kept as bytes: a case can then be compared with another."""
    return [value_of(one) for one in decoded(case.settings["answers"])] if "answers" in case.settings else []


def _follow(file: PlainFile, seen: Seen) -> Case | None:
    """The case of a check that goes on with what was seen of its calls; None where nothing is left to ask."""
    if "check" not in seen.case.settings:
        return None
    replay = _replay(file, seen.case, [value_of(one) for one in seen.returned[0]])
    if replay.done or len(replay.calls) > MOST:
        return None
    return replace(seen.case, settings={**seen.case.settings, "answers": encoded(list(seen.returned[0]))})


# ---- whether it is right


def _examine(file: PlainFile, seen: Seen) -> Fault | None:
    if "check" in seen.case.settings:
        return _of_check(file, seen)
    one = file.cases[seen.case.settings["number"]]
    if _is_exception(one.wanted):
        return _of_exception(file, seen, one)
    if not file.ranks:
        return _fault(file, seen, one.arguments, value_of(seen.returned[0][0]), one.wanted)
    for rank in range(file.ranks):
        given = tuple(_on_rank(file, value, rank) for value in one.arguments)
        held, wanted = value_of(seen.returned[rank]), _on_rank(file, one.wanted, rank)
        if fault := _fault(file, seen, given, held, wanted, f", on rank {rank}"):
            return fault
    return None


def _fault(
    file: PlainFile, seen: Seen, given: tuple[Any, ...], held: Any, wanted: Any, where: str = ""
) -> Fault | None:
    off = difference(held, wanted, file.tolerance)
    if off is None:
        return None
    gives = f"With {seen.case}{where}: {_told_call(file, given)} gives"
    return Fault(off.kind, f"{gives} {_told_difference(held, wanted, off)}{_advice(held)}", telling=True)


def _told_difference(held: Any, wanted: Any, off: Difference) -> str:
    """As in "3; it is 2.", and of what has parts "[1, 3]; it is [1, 2]: [1] is 3, not 2."."""
    there, right = shown(held), shown(wanted)
    if off.kind == "wrong-shape":
        return f"{there}; it is {right}: {off.path or 'yours'} has {off.there}, not {off.right}."
    if not off.path:
        return f"{off.there}; it is {off.right}."
    if there != right and len(there) + len(right) <= EASILY_SEEN:
        return f"{there}; it is {right}."
    return f"{there}; it is {right}: {off.path} is {off.there}, not {off.right}."


def _advice(held: Any) -> str:
    if held is None:
        return " Does every way through your function end with return?"
    if isinstance(held, Other) and held.type in ("generator", "map", "filter", "zip", "dict_keys", "dict_values"):
        return f" Make a list of the {held.type}: list(…)."
    return ""


def _of_exception(file: PlainFile, seen: Seen, one: Tried) -> Fault | None:
    ended = seen.returned[0] if file.ranks else seen.returned[0][0]
    told = f"With {seen.case}: {_told_call(file, one.arguments)} should raise {one.wanted.__name__}"
    if isinstance(ended, Raised):
        other = f"{told}, and raises {ended.exception}."
        return None if ended.wanted else Fault("wrong-exception", other, f"\n{ended.told}", telling=True)
    gives = "" if file.ranks else f", and gives {shown(value_of(ended))}"
    return Fault("no-exception", f"{told}{gives}.", telling=True)


def _of_check(file: PlainFile, seen: Seen) -> Fault | None:
    answers = [value_of(one) for one in seen.returned[0]]
    replay = _replay(file, seen.case, answers)
    if not replay.done:
        raise UsageError(
            f"{seen.case.settings['check']} in {file.path.name} makes more than {MOST} calls.",
            "Write them as cases, or make fewer.",
        )
    if not replay.failed and not replay.unusable:
        return None
    call = _told_call(file, replay.calls[-1]) if replay.calls else file.function
    gave = f" {call} gives {shown(answers[len(replay.calls) - 1])}." if replay.calls else ""
    id = "wrong-type" if replay.unusable else "fails-check"
    return Fault(id, f"With {seen.case}:{gave} {replay.failed}".rstrip(), telling=True)


def _is_exception(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, BaseException)


def _ends_well(file: PlainFile, case: Case, failure: Failure) -> Raised | None:
    """What stands in place of the result of a run that failed, where it should raise something; else None."""
    wanted: Any = file.cases[case.settings["number"]].wanted if "number" in case.settings else None
    if not _is_exception(wanted) or not failure.exception or failure.not_written or failure.library_answer:
        return None
    name = failure.exception.rpartition(".")[2]
    return Raised(name, wanted.__name__ in (name, *failure.bases), failure.told)


# ---- in words


def _told_call(file: PlainFile, arguments: Sequence[Any]) -> str:
    return f"{file.function}({', '.join(map(shown_exactly, arguments))})"


def known_wrong(file: PlainFile) -> Mapping[str, tuple[str, str]]:
    """By the name of the function, the misconception's id and what its author is told."""
    return {n: (re.sub(r"_+", "-", n.removeprefix(WRONG)).strip("-"), one.told) for n, one in file.mistakes.items()}
