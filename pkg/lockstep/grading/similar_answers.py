"""Answers that are alike beyond what the lab gives, across a class: a list for the teacher to look at, no verdict.

They are compared by their forms (``checks/syntax_trees.py``): names, comments and layout aside. Of each form is left
out what the lab itself gives, and an answer with little else is not compared: right answers are alike. The
library's own answer and the course's solution are compared with as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from lockstep.checks import find
from lockstep.checks.borrowed import LEAST
from lockstep.checks.syntax_trees import Form, form_of_library, form_of_text
from lockstep.checks.wording import listed, printable
from lockstep.grading.grade_submission import Result
from lockstep.grading.submission import Notebook

ALIKE = 0.9  # share of the larger one's rows that the other has, too
LIBRARY, SOLUTION = "the library's own answer", "the course's solution"


@dataclass(frozen=True)
class Group:
    """Students whose answers to ``exercise`` are alike. ``published``: LIBRARY, SOLUTION or both, where they are that.
    ``share``: of what two of them, the least alike of those that made it a group, have in common; 1 for the same
    form."""

    exercise: str
    students: Sequence[str]
    published: Sequence[str]
    share: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def alike(
    topic: str, names: Sequence[str], results: Mapping[str, Result], release: Notebook, solved: Notebook | None
) -> list[Group]:
    """The groups in each exercise of ``names``, in their order, the largest first."""
    return [group for name in names for group in _of_exercise(topic, name, results, release, solved)]


def _of_exercise(
    topic: str, name: str, results: Mapping[str, Result], release: Notebook, solved: Notebook | None
) -> list[Group]:
    forms = {s: Form.from_json(f) for s, r in sorted(results.items()) if name in r.exercises and (f := _kept(r, name))}
    if own := form_of_library(find(f"{topic}.{name}").reference_function()):
        forms[LIBRARY] = own
    if solved and (own := _in_notebook(solved, name)):
        forms[SOLUTION] = own
    stub = _in_notebook(release, name)
    rows = {who: form.rows - (stub.rows if stub else Counter()) for who, form in forms.items()}
    long_enough = [who for who in forms if rows[who].total() >= LEAST]
    pairs = {}
    for one, other in combinations(long_enough, 2):
        same = forms[one].digest == forms[other].digest
        share = 1.0 if same else min(_share(rows[one], rows[other]), 0.99)
        if share >= ALIKE and {one, other} != {LIBRARY, SOLUTION}:
            pairs[one, other] = share
    groups = [_group(f"{topic}.{name}", members, pairs) for members in _joined(pairs)]
    return sorted(groups, key=lambda g: (-len(g.students), -g.share, g.students))


def _kept(result: Result, name: str) -> Mapping[str, Any]:
    return result.exercises[name].form


def _in_notebook(notebook: Notebook, name: str) -> Form | None:
    texts = [c["source"] for c in notebook["cells"] if c.get("cell_type") == "code"]
    return form_of_text([(text, "given") for text in texts], name)


def _share(one: Counter[str], other: Counter[str]) -> float:
    least, most = sorted([one.total(), other.total()])
    return (one & other).total() / most if least >= ALIKE * most else 0.0


def _joined(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The connected components of the pairs: students whose answers are alike, directly or by way of others."""
    beside = defaultdict(set)
    for one, other in pairs:
        beside[one].add(other)
        beside[other].add(one)
    groups, seen = [], set[str]()
    for who in beside:
        group, left = set[str](), {who} - seen
        while left:
            group |= left
            left = {other for one in left for other in beside[one]} - group
        seen |= group
        groups += [group] if group else []
    return groups


def _group(exercise: str, members: set[str], pairs: Mapping[tuple[str, str], float]) -> Group:
    share = min(share for pair, share in pairs.items() if members.issuperset(pair))
    published = [who for who in (LIBRARY, SOLUTION) if who in members]
    return Group(exercise, sorted(members - set(published)), published, round(share, 2))


def text(groups: Sequence[Group], lab: str) -> str:
    return printable("\n".join(_lines(groups, lab)))


def _lines(groups: Sequence[Group], lab: str) -> Iterator[str]:
    if not groups:
        yield f"No answers to {lab} are alike beyond what the lab gives."
        yield "Short ones are not compared, nor what an older Lockstep has graded: `--again` grades it once more."
        return
    before = ""
    for group in groups:
        if group.exercise != before:
            yield f"{group.exercise}:"
        before = group.exercise
        how = "the same, names and comments aside" if group.share == 1 else f"{group.share:.0%} the same"
        yield f"  {listed([*group.students, *group.published])}: {how}"
    yield "Look at them: this is no verdict. Hints lead to like answers, and so does an exercise with one short way."


def in_one_line(groups: Sequence[Group], lab: str) -> list[str]:
    """That there are some; nothing where there are none."""
    number, exercises = sum(len(g.students) for g in groups), len({g.exercise for g in groups})
    if not groups:
        return []
    where = "an exercise" if exercises == 1 else f"{exercises} exercises"
    what = (
        "answer is the library's or the course's" if number == 1 else "answers are alike, or the library's or course's"
    )
    return [f"{number} {what}, in {where}: `lockstep grade {lab} --alike` lists them. That is no verdict."]
