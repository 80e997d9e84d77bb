"""Is an answer the library's own? What is to be said of it then: one line, which costs nothing."""

from __future__ import annotations

from typing import Any

from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Finding
from lockstep.checks.syntax_trees import Form, form_of, form_of_library, form_of_text

THE_REFERENCE = "the-reference"
LEAST = 40  # nodes: whoever is right in fewer writes the same
TOLD = (
    "Names and comments aside, this is the library's own answer. That costs no points; be ready to say why each line "
    "is there."
)


def remark(exercise: Exercise, fn: Any) -> list[Finding]:
    """Of a right answer. Nothing is said of what is short, nor of a function that was given to be mended: most of it is
    what was given."""
    form = None if exercise.kind == "mend" else form_of(fn)
    if form is None or form.nodes - _given(exercise) < LEAST or not is_reference(exercise, form):
        return []
    return [Finding(TOLD, THE_REFERENCE)]


def is_reference(exercise: Exercise, form: Form) -> bool:
    """Whether it is the reference, and what it calls are functions that the reference calls."""
    own = form_of_library(exercise.reference_function())
    return own is not None and form.main == own.main and form.helpers <= own.helpers


def _given(exercise: Exercise) -> int:
    """The nodes of its empty function."""
    empty = form_of_text([(f"def {exercise.signature}: pass", "given")], exercise.function)
    return empty.nodes if empty else 0
