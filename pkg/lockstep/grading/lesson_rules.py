"""What a lesson must be so that it runs whatever is open: one sentence for each cell that breaks a rule."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from IPython.core.inputtransformer2 import TransformerManager

from lockstep.checks.plain_marks import BEGIN, END
from lockstep.grading.lesson_parts import KINDS, Mark, Parted, arguments, mark, quiz_answer, whole
from lockstep.grading.text_notebook import Cell, Problem
from lockstep.lessons.behind import TurnSource
from lockstep.lessons.quiz import close
from lockstep.lessons.turn_judge import Outcome, alike, outcomes, task

FEWEST_CASES, WRONG, LINES = 8, (3, 5), 3  # of a turn


@dataclass
class Names:
    """What the cells above have declared: kinds by NAME, and the gate behind which a Python name is made."""

    declared: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)


def topic_problems(folder: str, sources: Mapping[str, Sequence[Cell]]) -> Iterator[Problem]:
    """All that is wrong with the sources of a topic, cell by cell; ``sources`` by "lesson" and "more"."""
    every = [cell for cells in sources.values() for cell in cells]
    names = Names()
    for stem, cells in sources.items():
        names = Names(declared=names.declared)  # each notebook has its own kernel
        for cell in cells:
            for sentence in _problems(cell, every, names):
                yield Problem(f"{folder}/{stem}.py", cell, sentence)
        first = next((c for c in cells if c.type == "code"), None)
        if first and first.lesson:
            yield Problem(f"{folder}/{stem}.py", first, "it is the first code cell; put one with the imports above it")


def leaks(folder: str, parted: Parted) -> Iterator[Problem]:
    """Sentences that should stay hidden until something is opened, in a cell that is shown at once."""
    for stem, cells in parted.seen.items():
        for cell in cells:
            for sentence in parted.behind.sentences():
                if sentence in cell.source:
                    yield Problem(f"{folder}/{stem}.py", cell, f"it tells what should wait: “{sentence}”")


def _problems(cell: Cell, every: Sequence[Cell], names: Names) -> Iterator[str]:
    this = mark(cell)
    if cell.tag or cell.unread:
        yield "a lesson has no lab cells; put this one into lab.py"
    elif cell.lesson and not this.kind:
        yield f'a mark reads lesson="KIND NAME" or lesson="fold", with KIND one of {", ".join(KINDS[:-1])}'
    elif this.kind != "turn" and BEGIN in cell.source:
        yield 'a lesson has no solution but in a cell with lesson="turn NAME"; put this cell into lab.py'
    elif (this.kind == "reason") != (cell.type == "markdown") and this.kind not in ("after", ""):
        yield f"a {this.kind} is {'Markdown' if this.kind == 'reason' else 'code'}, not {cell.type}"
    elif cell.type == "code" and (wrong := _not_python(cell)):
        yield wrong
    else:
        yield from _KINDS.get(this.kind, _nothing)(cell, this, every, names)
        if cell.type == "code" and this.kind not in ("behind", "quiz"):
            yield from _uses(cell, this, names)


def _nothing(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    yield from ()


def _not_python(cell: Cell) -> str:
    try:
        made(cell.source)
    except SyntaxError as error:
        return f"it is not Python: {error.msg} (line {cell.line + (error.lineno or 0)})"
    return ""


def _declare(this: Mark, names: Names) -> Iterator[str]:
    if this.name in names.declared:
        yield f"there is a {names.declared[this.name]} {this.name!r} above; a name stands once in a topic"
    names.declared.setdefault(this.name, this.kind)


def _predict(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    yield from _declare(this, names)
    wanted = f'predict("{this.name}", "question?", unit="…")'
    try:
        given = arguments(cell.source)
    except (ValueError, SyntaxError, AttributeError):
        yield f"it is one call with literal text: {wanted}"
        return
    if given["called"] != "predict" or given.get("0") != this.name or not isinstance(given.get("1"), str):
        yield f"it is one call with literal text: {wanted}"
    if not any(mark(c) == Mark("reason", this.name) for c in every):
        yield f'it has no reason: answer it in a Markdown cell with lesson="reason {this.name}"'
    after = [c for c in every if mark(c).gate == this.name and c.type == "code"]
    if not any(f'reconcile("{this.name}"' in c.source for c in after):
        yield f'nothing answers it: call reconcile("{this.name}", …) in a cell with lesson="after {this.name}"'


def _after(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    if names.declared.get(this.name) not in ("predict", "turn"):
        yield f"it waits for {this.name!r}, and no prediction or turn above has that name"
    if cell.type == "code" and cell.source.lstrip().startswith("%%"):
        yield "a cell that waits cannot begin with a cell magic; call a function instead"


def _reason(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    if names.declared.get(this.name) != "predict":
        yield f"no prediction above has the name {this.name!r}"
    if sum(mark(c) == this for c in every) > 1:
        yield f"there are two reasons for {this.name!r}; write one"


def _turn(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    yield from _declare(this, names)
    behind = [c for c in every if mark(c) == Mark("behind", this.name)]
    if len(behind) != 1:
        yield f'it needs one cell with lesson="behind {this.name}", for cases, wrong and well'
        return
    marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
    if marks != [BEGIN, END]:
        yield f"it needs one {BEGIN} … {END} around the learner's lines"
        return
    lines = [x for x in cell.source.partition(BEGIN)[2].partition(END)[0].splitlines() if x.strip()]
    if len(lines) > LINES:
        yield f"the learner writes one to {LINES} lines, not {len(lines)}"
    if [getattr(s, "name", "") for s in ast.parse(cell.source).body] != [this.name]:
        yield f"it is def {this.name}, and nothing else"
        return
    yield from _judged(this.name, TurnSource(whole(cell.source), "", behind[0].source))


def _judged(name: str, source: TurnSource) -> Iterator[str]:
    """Run the author's solution and the known wrong answers on the author's cases."""
    try:
        author = task(name, source)
    except Exception as error:  # whatever the author's own lines raise
        yield f"what is behind it fails: {type(error).__name__}: {error}"
        return
    wanted = outcomes(author.right, author.cases)
    if any(o.error or not o.ended for o in wanted):
        yield f"the solution fails: {author.call(author.cases[len(wanted) - 1])}: {wanted[-1].said}"
        return
    if len(author.cases) < FEWEST_CASES:
        yield f"it has {len(author.cases)} cases; give it {FEWEST_CASES} at least, with one large"
    if not WRONG[0] <= len(author.wrong) <= WRONG[1]:
        yield f"it knows {len(author.wrong)} wrong answers; give it {WRONG[0]} to {WRONG[1]}"
    theirs = [(outcomes(program, author.cases), said) for program, said in author.wrong]
    yield from _told_apart(wanted, theirs)


def _told_apart(wanted: Sequence[Outcome], theirs: Sequence[tuple[Sequence[Outcome], str]]) -> Iterator[str]:
    for given, said in theirs:
        if alike(given, wanted):
            yield f"the wrong answer “{said}” is right in all cases; add a case in which it fails"
    for (one, said), (other, said_too) in combinations(theirs, 2):
        if alike(one, other):
            yield f"the wrong answers “{said}” and “{said_too}” give the same in all cases; add one that parts them"


def _behind(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    if names.declared.get(this.name) != "turn":
        yield f'no cell above has lesson="turn {this.name}"'


def _quiz(cell: Cell, this: Mark, every: Sequence[Cell], names: Names) -> Iterator[str]:
    yield from _declare(this, names)
    wanted = f'quiz("{this.name}", "question?", answer=…, because="…", wrong={{…}})'
    try:
        given, answer = arguments(cell.source), quiz_answer(cell.source)
    except (ValueError, SyntaxError, AttributeError, KeyError, TypeError):
        yield f"it is one call with literal arguments: {wanted}"
        return
    if given["called"] != "quiz" or given.get("0") != this.name or not answer.because or not answer.wrong:
        yield f"it is one call with literal arguments: {wanted}"
        return
    wrong = [value for value, _ in answer.wrong]
    if any(close(value, answer.answer, answer.within) for value in wrong):
        yield f"its answer {answer.answer!r} counts as one of its wrong ones, too"
    if any(close(a, b, answer.within) for a, b in combinations(wrong, 2)):
        yield "two of its wrong answers count as the same"
    if answer.choices and {answer.answer, *wrong} != set(answer.choices):
        yield "its choices are its answer and its wrong answers, each with a sentence, and nothing else"
    if not answer.choices and any(isinstance(value, str) for value in [answer.answer, *wrong]):
        yield "an answer in words needs choices=[…]"


_KINDS: dict[str, Callable[[Cell, Mark, Sequence[Cell], Names], Iterator[str]]] = {
    "predict": _predict,
    "after": _after,
    "reason": _reason,
    "turn": _turn,
    "behind": _behind,
    "quiz": _quiz,
}


def _uses(cell: Cell, this: Mark, names: Names) -> Iterator[str]:
    """A name that a held cell makes is there only when its gate is open."""
    gate = this.name if this.kind == "turn" else this.gate
    for name in sorted(taken(cell.source) & set(names.held)):
        if gate != names.held[name]:
            yield f'uses {name}, which waits for {names.held[name]!r}: tag it lesson="after {names.held[name]}" too'
    for name in made(cell.source):
        if not gate:
            names.free.add(name)
            names.held.pop(name, None)
        elif name not in names.free:
            names.held.setdefault(name, gate)


# ---- names of cells


def made(source: str) -> set[str]:
    """The names that a cell leaves behind."""
    return {s.get_name() for s in _table(source).get_symbols() if s.is_assigned() or s.is_imported()}


def taken(source: str) -> set[str]:
    """The names that a cell takes from others, also in functions that it only defines."""
    top = _table(source)
    mine = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    return mine.union(*map(_globals, top.get_children())) - made(source)


def _globals(table: symtable.SymbolTable) -> set[str]:
    mine = {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return mine.union(*map(_globals, table.get_children()))


def _table(source: str) -> symtable.SymbolTable:
    plain = TransformerManager().transform_cell(source)  # type: ignore[no-untyped-call]
    return symtable.symtable(plain, "cell", "exec")
