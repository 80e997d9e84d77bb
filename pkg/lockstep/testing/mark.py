"""What ``@pytest.mark.lockstep(...)`` asks for, checked when the test is collected. Needs no torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockstep.errors import UsageError
from lockstep.launchers.detection import detect

REAL = ("processes", "spmd")  # worlds in which ranks are processes, and nothing is simulated
SIMULATED = ("ties", "strict", "rules", "fake")  # what only the virtual cluster knows
OPTIONS = ("seed", "timeout", "isolate", *SIMULATED)


@dataclass(frozen=True)
class Mark:
    """The runs of one test: on each of ``ranks`` numbers of ranks, and there with each of ``ties`` seeds."""

    ranks: tuple[int, ...]
    on: Any  # a world, the name of a cluster, or a Cluster
    ties: tuple[int, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    moved: bool = False  # to real ranks, by the command line

    def cannot(self, ranks: int) -> str:
        """Why a moved test is skipped on so many ranks; "" if it is not."""
        if self.moved and self.options.get("fake"):
            return "fake tensors are for the virtual cluster"
        launched = detect() if self.moved and self.on == "spmd" else None
        if launched and launched.world_size != ranks:
            return f"{launched.launcher} has started {launched.world_size} ranks"
        return ""

    def arguments(self) -> dict[str, Any]:
        """Further arguments of ``run``."""
        return {k: v for k, v in self.options.items() if not (self.moved and k in SIMULATED)}


def read(marks: Iterable[Mapping[str, Any]], on: str | None = None, ties: int | None = None) -> Mark:
    """The Mark of a test with several marks, the closest first: each says what those before it have left open.

    ``on`` and ``ties`` are the command line's: another world, and how many seeds. Raises UsageError."""
    asked: dict[str, Any] = {}
    for given in marks:
        asked = {**given, **asked}
    unknown = sorted(asked.keys() - {"ranks", "on", *OPTIONS})
    if unknown:
        raise UsageError(
            f"The mark lockstep has no {unknown[0]!r}.", f"It knows: ranks, on, {', '.join(OPTIONS)}."
        )  # fmt: skip
    sizes = whole_numbers("ranks", asked.pop("ranks", ()), least=1)
    seeds = whole_numbers("ties", asked.pop("ties", ()), least=0) if ties is None else tuple(range(ties))
    world = asked.pop("on", "virtual")
    if on in REAL and world not in REAL:
        return Mark(sizes, on, (), asked, moved=True)
    world = world if on is None else on
    if world not in REAL:
        asked.setdefault("strict", not asked.get("fake", False))
    return Mark(sizes, world, seeds if ties is None or world not in REAL else (), asked)


def whole_numbers(name: str, given: Any, least: int) -> tuple[int, ...]:
    """A number, or several, as a tuple. Raises UsageError if one is none, or if ``ranks`` names no number."""
    numbers: Sequence[Any] = (given,) if isinstance(given, int) else tuple(given)
    wrong = [n for n in numbers if isinstance(n, bool) or not isinstance(n, int) or n < least]
    if wrong or not (numbers or name == "ties"):
        told = f"not {wrong[0]!r}" if wrong else "and the mark names none"
        raise UsageError(
            f"{name} are whole numbers from {least} on, {told}.", f"Write @pytest.mark.lockstep({name}=[2, 4])."
        )  # fmt: skip
    return tuple(numbers)
