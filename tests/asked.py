"""Which exercises a run of the tests asks for: a module of hundreds of answers need not read those of the others.

Apart from tests/proof, so that no answer's proof depends on that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockstep.checks.exercise import Exercise

_asked_for = set[str]()  # ids; all where it is empty


def ask_for(ids: Iterable[str]) -> None:
    _asked_for.clear()
    _asked_for.update(ids)


def is_asked_for(exercise: Exercise) -> bool:
    return not _asked_for or exercise.id in _asked_for
