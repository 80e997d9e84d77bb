"""nbgrader's marks in a plain file: what stands between two of them is cut out of what learners get. So one that is
mistyped, or has no other end, would cut away something else, and nobody would be told."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import NamedTuple

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
ENDS = {BEGIN: END, BEGIN_HIDDEN: END_HIDDEN}
MARKS = (BEGIN, END, BEGIN_HIDDEN, END_HIDDEN)
CLOSE = 0.85  # of 1, by difflib: a letter or a word is missing


class Slip(NamedTuple):
    """Something wrong, the line that it stands in, and what to do."""

    line: int
    what: str
    remedy: str = ""


def slip_of_marks(text: str) -> Slip | None:
    """The first mark that is unknown, or has no other one."""
    opened: tuple[int, str] | None = None
    for number, line in _marked(text):
        mark = line.strip()
        if mark not in MARKS:
            meant = _meant(mark)
            return Slip(number, f"`{mark}` is no mark.", f"Did you mean `{meant}`?" if meant else _all())
        if mark in (BEGIN, END) and line == mark:
            return Slip(number, f"`{mark}` stands outside of a function.", "Indent it as the lines round it.")
        if mark in ENDS and opened:
            return Slip(number, f"`{mark}` stands where `{ENDS[opened[1]]}` should, for line {opened[0]}.")
        if mark not in ENDS and (not opened or ENDS[opened[1]] != mark):
            begin = next(b for b, end in ENDS.items() if end == mark)
            return Slip(number, f"`{mark}` has no `{begin}` above it.")
        opened = (number, mark) if mark in ENDS else None
    return Slip(opened[0], f"`{opened[1]}` has no `{ENDS[opened[1]]}` below it.") if opened else None


def _marked(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are marks, or nearly, by their number."""
    for number, line in enumerate(text.splitlines(), 1):
        mark = line.strip()
        if mark.startswith(("### BEGIN ", "### END ")) or _meant(mark):
            yield number, line.rstrip()


def _meant(mark: str) -> str:
    """The mark that this line is, or is close to; or else ""."""
    words = mark.lstrip("#").upper().split()
    shouted = mark.startswith("###") or (mark.startswith("#") and mark.isupper())  # "# the solution" is a comment
    if not shouted or not words or not get_close_matches(words[0], ("BEGIN", "END"), 1):
        return ""
    return next(iter(get_close_matches(f"### {' '.join(words)}", MARKS, 1, CLOSE)), "")


def _all() -> str:
    return f"There are `{BEGIN}` and `{BEGIN_HIDDEN}`, each with its END."
