"""A closer look at a wrong answer: it is run again with dyed tensors, and compared with the known wrong answers.

It says only what it found. Where nothing fits, it guesses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from lockstep.checks import run_faults
from lockstep.checks.case import DTYPES, Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, fault_of
from lockstep.checks.known import Known, tellable
from lockstep.checks.observation import Seen
from lockstep.checks.observe import home, observe
from lockstep.checks.recognise import (
    Key,
    alike_in_cost,
    alike_in_values,
    judged,
    key_of,
    right_in_the_same,
    says_little,
    told_of,
)
from lockstep.checks.run_faults import forgiven, results, row
from lockstep.checks.transforms import Change, changed_numbers, changed_places, changed_tensors
from lockstep.checks.who_is_right import who_is_right
from lockstep.dye import Dyed, Wanted, dye, profile, told
from lockstep.errors import LockstepError
from lockstep.show.xray import xray

NOTHING_SENT = "No rank sends anything."
REMEMBERS = (
    "As the first call, in a new process, this one is right: your function keeps something from earlier calls, in a "
    "global name, a default argument or a cache."
)
MANY = 25  # elements: so many are dyed in a few calls
DYED = 8  # ranks at most: the figure shows no more, and each costs a call


@dataclass
class Closer:
    """Explains the faults of an answer as precisely as possible: ``values`` and ``cost`` by known wrong answers,
    ``sentence`` by the dye. ``dyed`` and ``wanted`` are kept for the figure."""

    exercise: Exercise
    fn: Callable[..., Any]
    known: Sequence[Known] | None = None  # by default all that have a sentence; they are read when they are needed
    dyed_case: Case | None = field(default=None, init=False)  # the run that is looked at first
    dyed: Dyed | None = field(default=None, init=False)
    wanted: Wanted | None = field(default=None, init=False)

    @cached_property
    def _tellable(self) -> list[Known]:
        return tellable(self.exercise) if self.known is None else [k for k in self.known if k.tellable]

    def passes(self, case: Case) -> bool:
        """Whether the answer is right in a case that was not tried before. Not where there is no such case."""
        try:
            (seen,) = observe(self.exercise, self.fn, home(self.exercise), cases=[case])
            return fault_of(seen, run_faults.examine(self.exercise)) is None
        except Exception:
            return False

    def values(self, seen: Sequence[Seen], fault: Fault) -> Fault | None:
        """The sentence of a known wrong answer; None if none is alike. ``seen`` begins with the run of ``fault``."""
        self._dyed(seen[0])  # for the figure, whatever is known
        fitting = alike_in_values(self.exercise, self._tellable, seen)
        if not fitting and not seen[0].case.trivial:  # where little can go wrong, answers of one mistake may differ
            fitting = alike_in_values(self.exercise, self._tellable, [s for s in seen if not s.case.trivial])
        return self._told(fitting or self._alike_in_dye(seen), seen[0], fault)

    def cost(self, seen: Sequence[Seen], fault: Fault) -> Fault | None:
        """The same for an answer with right values that costs too much."""
        return self._told(alike_in_cost(self.exercise, self._tellable, seen), seen[0], fault)

    def sentence(self, seen: Seen, fault: Fault) -> Fault:
        """The fault of wrong values with what the dye, or a simple change, says of them."""
        change = _changed(self.exercise, seen)
        said = self._said(seen) or who_is_right(self.exercise, seen)
        id, told = change or (fault.misconception, said or (REMEMBERS if self._remembers(seen) else ""))
        silent = "" if self.exercise.pure or seen.case.size == 1 or seen.trace.communication else NOTHING_SENT
        aside = "" if change else fault.aside
        return replace(
            fault, misconception=id, message=" ".join(filter(None, (fault.message, told, silent))), aside=aside
        )

    def _remembers(self, seen: Seen) -> bool:
        """Whether the first wrong call of a pure exercise is right in a process where nothing was called before it."""
        values = self.exercise.values
        if not self.exercise.pure or values.wanted is None:
            return False
        calls, agrees = self.exercise.inputs(seen.case, 0), values.agrees or run_faults.equal
        rows = enumerate(zip(calls, values.wanted(seen.case), seen.returned[0], strict=True))
        at, (call, want, _) = next((row for row in rows if not agrees(row[1][2], row[1][1])), (0, (None, None, None)))
        alone = replace(values, examine=None, wanted=lambda case: [want])
        closer = Closer(replace(self.exercise, inputs=lambda case, rank: [call], values=alone), self.fn)
        return at > 0 and closer.passes(seen.case)

    def picture(self) -> str:
        """Who is in the learner's result, drawn; "" if that is not known or was not asked."""
        if self.dyed is None or self.wanted is None:
            return ""
        return xray(self.dyed, self.wanted, told(self.dyed, self.wanted)).svg()

    def _told(self, fitting: Sequence[Known], seen: Seen, fault: Fault) -> Fault | None:
        found = told_of(fitting, seen)
        if found is None:
            return None
        misconception, tell = found
        return replace(fault, misconception=misconception, message=f"{fault.message} {tell}", aside="")

    def _said(self, seen: Seen) -> str:
        dyed = self._dyed(seen)
        return told(dyed, self.wanted) if dyed is not None and self.wanted is not None else ""

    def _dyed(self, seen: Seen) -> Dyed | None:
        """Who is in the learner's result; None where the exercise is not linear or nothing is certain."""
        if self.dyed_case is None and self.exercise.contributions.wanted and 1 < seen.case.size <= DYED:
            self.dyed_case = seen.case
            self.dyed = dyed_answer(self.exercise, self.fn, seen.case, steps=True)
            self.wanted = self.exercise.contributions.wanted(self.dyed, seen.case) if self.dyed else None
        return self.dyed if seen.case == self.dyed_case else None

    def _alike_in_dye(self, seen: Sequence[Seen]) -> list[Known]:
        """The known answers whose results have the same contributions, up to rotation: in the first run, and in that of
        the most ranks, since few ranks tell few mistakes apart; and that are right where this one is."""
        first = seen[0]
        dyed = self._dyed(first)
        if dyed is None or says_little(self.exercise, first) or not self._said(first):
            return []
        left = self._alike_to(dyed, first.case, self._tellable)
        most = max((s.case for s in seen if not s.failure and s.case.size <= DYED), key=lambda case: case.size)
        if left and most.size > first.case.size:
            again = dyed_answer(self.exercise, self.fn, most)
            left = self._alike_to(again, most, left) if again else []
        return [k for k in left if right_in_the_same(self.exercise, k, seen, self._right)]

    def _right(self, seen: Seen) -> bool:
        return fault_of(seen, run_faults.examine(self.exercise)) is None

    def _alike_to(self, dyed: Dyed, case: Case, known: Sequence[Known]) -> list[Known]:
        mine = _profile(self.exercise, dyed, case)
        return [k for k in known if _known_profile(self.exercise, k, case) == mine]


def dyed_answer(exercise: Exercise, fn: Callable[..., Any], case: Case, steps: bool = False) -> Dyed | None:
    """The dye of an answer, on as many ranks as the case has; None where nothing is certain."""
    extra = exercise.inputs(case, case.members[0])[1:]
    numel = case.settings.get("numel", MANY)
    dtype = DTYPES[str(case.settings.get("dtype", "float32"))]
    wide = DTYPES["float64"] if dtype.is_floating_point else dtype
    few = numel if 0 < numel < MANY else None
    try:
        dyed = dye(
            fn, ranks=case.ranks, group=case.group, extra=extra, dtype=wide, steps=steps, timeout=5.0,
            elements=few, weights=case.settings.get("weights", 1),
        )  # fmt: skip
    except LockstepError:
        return None
    return dyed if dyed.certain else None


_profiles: dict[Key, str | None] = {}  # of known answers: the same cases come again with the next attempt


def _known_profile(exercise: Exercise, known: Known, case: Case) -> str | None:
    key = key_of(exercise, known, case)
    if key not in _profiles:
        dyed = dyed_answer(exercise, known.load(exercise.function), case)
        _profiles[key] = _profile(exercise, dyed, case) if dyed else None
    return _profiles[key]


def _profile(exercise: Exercise, dyed: Dyed, case: Case) -> str:
    """Of the ranks whose result counts."""
    root = case.members.index(case.settings[exercise.contributions.root]) if exercise.contributions.root else None
    counts = [rank in judged(exercise, case) for rank in case.members]
    rows = tuple(row if count else () for row, count in zip(dyed.rows, counts, strict=True))
    return profile(
        replace(dyed, rows=rows), "root" if exercise.contributions.root else exercise.contributions.symmetry, root
    )


def _changed(exercise: Exercise, seen: Seen) -> Change | None:
    if exercise.comparison.tensors:
        return changed_tensors(*exercise.comparison.tensors(seen))
    if exercise.values.wanted is None:
        return None
    wanted = list(exercise.values.wanted(seen.case))
    if not exercise.pure:
        if any(isinstance(w, tuple) for w in wanted):
            return _changed_rows([seen.returned[rank] for rank in seen.case.members], wanted, exercise.values.tolerance)
        return changed_tensors(
            results(seen), wanted, [exercise.inputs(seen.case, rank)[0] for rank in seen.case.members]
        )
    answers, right = [row(a) for a in seen.returned[0]], [row(w) for w in wanted]
    if len({len(numbers) for numbers in [*answers, *right]}) != 1 or not right[0]:
        return None
    if any(isinstance(w, (tuple, list)) and len(w) != len(right[0]) for w in wanted):
        return None  # a tuple of numbers and other things: its numbers are not the answer
    if len(right[0]) > 1:
        return changed_places(answers, right)
    return changed_numbers([a for (a,) in answers], [w for (w,) in right])


def _changed_rows(held: Sequence[Any], wanted: Sequence[Any], rounding: float) -> Change | None:
    """The same where each member returns several tensors: how all of those differ that are wrong on some rank."""
    rows = [(h, w) for h, w in zip(held, wanted, strict=True) if w is not None]
    if not rows or not all(isinstance(h, list) and len(h) == len(w) for h, w in rows):
        return None
    columns = [
        [(h[n], w[n]) for h, w in rows if isinstance(w[n], Tensor) and w[n].numel()]
        for n in range(min(len(w) for _, w in rows))
    ]
    pairs = [pair for column in columns if any(_differ(*pair, rounding) for pair in column) for pair in column]
    return changed_tensors([h for h, _ in pairs], [w for _, w in pairs], [None] * len(pairs))


def _differ(held: Any, want: Tensor, rounding: float) -> bool:
    alike = isinstance(held, Tensor) and held.shape == want.shape
    return not alike or not bool((held == forgiven(held, want, rounding)).all())
