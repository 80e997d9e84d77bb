"""A table of frameworks in today's names: judged name by name, with the documentation's own sentence for each
mistake."""

import re
from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule, first
from lockstep.checks.exercise import Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import Other, plain
from lockstep.with_horovod.frameworks import TABLE, Cell, Place

CELLS = tuple((Place(framework, name), cell) for framework, rows in TABLE.items() for name, cell in rows.items())
NO_TABLE = "no table"
RULES = (
    Rule("no-table", lambda e: not e["is_table"], "your function does not return a dict of dicts."),
    Rule("other-keys", lambda e: e["surplus"], "{surplus}. Keep the keys of the table as they are."),
    Rule("no-cell", lambda e: e["missing"], "{place}: there is no name. Keep the keys of the table as they are."),
    Rule("changed", lambda e: e["given"], "{place} was there already; it should stay {wanted!r}."),
    Rule("still-open", lambda e: e["answer"] == "?", "{place} is still open. {page} says: “{says}”"),
    Rule("wrong-type", lambda e: not isinstance(e["answer"], str), "{place} is no text. A name is a string."),
    Rule("other-case", lambda e: e["folded"], "{place}: {answer!r} has the right letters. Upper and lower case count."),
    Rule("with-modules", lambda e: e["bare"], "{place}: leave out what stands before the name in {answer!r}."),
    Rule("old-name", lambda e: e["old"], "{place}: {answer!r} is an earlier name. {page} has today's. It says: "
         "“{says}”"),
    Rule("other-place", lambda e: e["elsewhere"], "{place}: {answer!r} is the name of {elsewhere}. {page} says of "
         "yours: “{says}”"),
    Rule("name-close-by", lambda e: e["kind"], "{place}: {answer!r} is {kind}. {page} says: “{says}”"),
    Rule("another-name", lambda e: True, "{place} is not {answer!r}. {page} says: “{says}”"),
)  # fmt: skip


def told(place: Place) -> str:
    return f"“{place.framework}”, “{place.cell}”"


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """The names in the order of the table; None for one that is not there, and text for what is no table."""
    answer = fn()
    if not isinstance(answer, dict) or not all(isinstance(rows, dict) for rows in answer.values()):
        return NO_TABLE
    places = {place for place, _ in CELLS}
    more = [Place(str(framework), str(cell)) for framework, rows in answer.items() for cell in rows or ("",)]
    if surplus := next((place for place in more if place not in places), None):
        return f"{told(surplus)} is no place of the table"
    return [plain(answer.get(framework, {}).get(cell)) for (framework, cell), _ in CELLS]


def evidence(place: Place, cell: Cell, answer: Any) -> Evidence:
    """Of an answer that is wrong. In the documentation's sentence dots are in place of the name."""
    text = answer if isinstance(answer, str) else ""
    there = [p for p, other in CELLS if text in other.names]
    hidden = re.compile("|".join(map(re.escape, cell.names)), re.IGNORECASE)
    return {
        "is_table": True, "surplus": "", "place": told(place), "answer": answer, "missing": answer is None,
        "given": cell.given, "wanted": cell.names[0], "page": cell.page, "says": hidden.sub("…", cell.says),
        "old": text in cell.before, "kind": dict(cell.beside).get(text),
        "folded": text.lower() in [name.lower() for name in cell.names],
        "bare": re.split(r"[.\s]", text)[-1] in cell.names, "elsewhere": told(there[0]) if there else "",
    }  # fmt: skip


def examine(seen: Seen) -> Fault | None:
    """The first name that is wrong, by the rule that says most, and how many are. The others earn their share."""
    answers, asked = seen.returned[0][0], [cell for _, cell in CELLS if not cell.given]
    if isinstance(answers, (str, Other)):
        surplus = answers if isinstance(answers, str) and answers != NO_TABLE else ""
        return first(RULES, {"is_table": bool(surplus), "surplus": surplus})
    rows = [(place, cell, a) for (place, cell), a in zip(CELLS, answers, strict=True) if a not in cell.names]
    if not rows:
        return None
    fault = first(RULES, evidence(*rows[0]))
    assert fault is not None
    open_ones = sum(not cell.given for _, cell, _ in rows)
    more = f" {open_ones} of {len(asked)} names are not right yet." if open_ones > 1 else ""
    return Fault(fault.misconception, fault.message + more, earned=1 - max(1, open_ones) / len(asked))


EXERCISE = Exercise(
    number=6,
    core=False,
    title="Today's names",
    points=2,
    minutes=10,
    parameters="",
    worlds=(1,),
    pure=True,
    reference="lockstep.with_horovod.frameworks:frameworks",
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": f"{len(TABLE)} rows", "trivial": False})],
    inputs=lambda case, rank: [()],
    values=Values(share=1.0, examine=examine),
    run=Run(watch=watch),
)
