"""Exercises of the kind "catch": the learner writes a test, and it is tried on answers to another exercise that are
known to be right or wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.errors import RunError

OF_ALL = " It rejects all that are right. Does it catch an error of its own, or compare rounded sums?"


@dataclass(frozen=True)
class Candidates:
    """Answers, each with what it does, by what a test that is wrong about them has missed. Its name begins with
    "rejects" where they are right. Who rejects all "rejects-right-answers" may reject anything, and earns nothing."""

    noun: str  # "an all-reduce"
    answers: Mapping[str, Mapping[str, str]]  # {"misses-hangs": {"wrong/blocking_circle": "hangs"}}
    given: Callable[[str], tuple[Any, ...]]  # what the test gets of the answer of a name: nothing by which to know it
    kinds: tuple[str, str] = ("right ones", "wrong ones")  # what is looked for, and the others
    of_all: str = OF_ALL  # told to who rejects all that are right

    def cases(self, ranks: int, seed: int) -> list[Case]:
        told = {id: self.kinds[not id.startswith("rejects")] for id in self.answers}
        return [Case(1, seed, settings={"told": told[id], "candidates": id}) for id in self.answers]

    def inputs(self, case: Case, rank: int) -> Sequence[Any]:
        return [self.given(name) for name in self.answers[case.settings["candidates"]]]

    def examine(self, seen: Seen) -> Fault | None:
        """The first about which the test is wrong."""
        id = seen.case.settings["candidates"]
        right, none = id.startswith("rejects"), id == "rejects-right-answers" and True not in seen.returned[0]
        for answer, what in zip(seen.returned[0], self.answers[id].values(), strict=True):
            it = f"{self.noun} that {what}"
            if isinstance(answer, dict):
                ours = f"your test fails in run(): {answer['told']}. Mend it."
                theirs = f"run() raises {answer['error']}. What fails isn't right: catch RunError, return False."
                return Fault("lets-errors-through", f"With {it}, {ours if right else theirs}")
            if not isinstance(answer, bool):
                return Fault("wrong-type", f"Your test returns {told(answer)}; True or False is wanted.")
            if answer != right:
                more = self.of_all if none else ""
                return Fault(id, f"Your test returns {answer} for {it}.{more}", earned=-len(self.answers) * none)
        return None


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What the test returns, or the error of a run that it lets through: its name, and its first line."""
    try:
        return plain(fn(*arguments))
    except RunError as error:
        return {"error": type(error).__name__, "told": str(error).partition("\n")[0].rstrip(".")}
