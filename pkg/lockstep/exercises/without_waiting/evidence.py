"""What exercises of this unit have in common: cases with names, and records of ranks with more than what they
return."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Watch
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain


def case(
    ranks: int, seed: int, group: tuple[int, ...] | None, *told: str, trivial: bool = False, **settings: Any
) -> Case:
    """Its name contains its ranks, its size and what else is ``told``. One rank is trivial."""
    said = ", ".join(filter(None, [str(Case(ranks, seed, group, settings)), *told]))
    return Case(ranks, seed, group, {**settings, "told": said, "trivial": trivial or ranks == 1})


def noting(observed: Callable[..., tuple[Any, Any]]) -> Watch:
    """A watch that records each rank's "result" and what else was "found": ``observed(fn, arguments)`` returns both,
    plain."""
    both = "result", "found"
    return lambda fn, given: dict(zip(both, observed(lambda *own: plain(fn(*own)), given), strict=True))


def results(seen: Seen) -> list[Any]:
    """Of each member of the group."""
    return [seen.returned[rank]["result"] for rank in seen.case.members]


def alone(seen: Seen) -> Seen:
    """The same run as if only the results had been recorded."""
    return replace(seen, returned=tuple(noted and noted["result"] for noted in seen.returned))
