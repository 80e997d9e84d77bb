"""The questions of the inventory in a terminal, one after the other."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from lockstep import reports
from lockstep.classroom import answer_table
from lockstep.classroom.inventory import LETTERS, NONE, Question, questions
from lockstep.errors import UsageError
from lockstep.reports.posting import post
from lockstep.reports.report import Answers

WIDTH = 100


def ask(form: str, file: str | None) -> int:
    """Ask the twelve of a form, and send the answers to the board that this learner has joined, or add them to
    ``file``. Raises UsageError where neither is there, before anything is asked."""
    joined = reports.joined()
    path = Path(file) if file else None
    if joined is None and path is None:
        raise UsageError(
            "There is nowhere for your answers to go.", "Join a board first, or write --to FILE.csv after the form."
        )
    known = answer_table.read(path) if path and path.exists() else {}
    name = _name(known) if path else ""
    print(f"Twelve questions, {form} the course. If you do not know, say so: press Enter. No mark depends on them.\n")
    answers = "".join(map(_answer, questions(form)))
    if path:
        answer_table.write(path, known | {name: answers})
        print(f"Your answers are in {path}, under {name}.")
        return 0
    assert joined is not None
    sent = post(joined, "answers", Answers(joined.learner, form, answers).written())
    if sent.arrived:
        print("Your answers have arrived.")
        return 0
    why = sent.told.get("refused") or "the board does not answer. Keep them with --to FILE.csv."
    print(f"They have not arrived: {why}\nYour answers were {answers}.", file=sys.stderr)
    return 1


def _name(known: dict[str, str]) -> str:
    while True:
        name = _line("A word for yourself, the same before and after the course: ")
        if name and name not in known and "," not in name:
            return name
        print("It is taken, or empty." if "," not in name else "Without a comma, please.")


def _answer(question: Question) -> str:
    print(textwrap.fill(f"{question.number}. {question.text}", WIDTH))
    for letter, choice in zip(LETTERS, question.choices, strict=True):
        print(f"   {letter}  {choice.says}")
    while True:
        given = _line(f"   {LETTERS[0]} to {LETTERS[-1]}, or Enter: ").lower() or NONE
        if given in (*LETTERS, NONE):
            print()
            return given


def _line(asked: str) -> str:
    try:
        return input(asked).strip()
    except EOFError:
        raise UsageError(
            "Nobody can answer here.", "Use a terminal (in JupyterLab: File, New, Terminal), or the board's page."
        ) from None
