"""Exercises that ask for streams, which are lists of pairs or triples. The first mistake in a stream is reported."""

from collections.abc import Callable, Iterable
from typing import Any

from lockstep.checks.exercise import Exercise, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn

Stream = list[tuple[Any, ...]]
Mistakes = Callable[[Calls, list[Stream]], Iterable[tuple[int, str]]]  # of all calls of a case: which one, and what


def streams(
    tried: Tried, *, mistakes: Mistakes, kinds: tuple[str, ...], length: int, answer: str, **fields: Any
) -> Exercise:
    """An exercise whose answer is a stream. An entry has ``length`` elements: one of ``kinds``, then whole numbers."""
    function = fields["reference"].partition(":")[2]

    def examine(seen: Seen) -> Fault | None:
        calls, returned = drawn(tried, seen.case), seen.returned[0]
        found = [read(one, kinds, length) for one in returned]
        for call, one, stream in zip(calls, returned, found, strict=True):
            if isinstance(stream, str):
                return Fault("wrong-type", f"{function}{call} returns {told(one)}{stream}; {answer} is wanted.")
        for n, wrong in mistakes(calls, [stream for stream in found if not isinstance(stream, str)]):
            return Fault("wrong-values", f"With {seen.case}: {function}{calls[n]} {wrong}")
        return None

    values = Values(examine=examine, agrees=lambda answer, want: True, share=1.0)
    return arithmetic(tried, values=values, feedback=Feedback(answer=answer), **fields)


def each(mistake: Callable[..., str]) -> Mistakes:
    """``mistake(stream, *call)`` says what is wrong with one; each call is judged on its own."""

    def mistakes(calls: Calls, found: list[Stream]) -> Iterable[tuple[int, str]]:
        told = [mistake(stream, *call) for call, stream in zip(calls, found, strict=True)]
        return [(n, wrong) for n, wrong in enumerate(told) if wrong]

    return mistakes


def of_all_stages(*sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A call for each stage of pipelines of (stages, ...)."""
    return [(stage, *size) for size in sizes for stage in range(size[0])]


def read(answer: Any, kinds: tuple[str, ...], length: int) -> Stream | str:
    """The stream, or what of it is none: empty if nothing is."""
    if not isinstance(answer, (list, tuple)):
        return ""
    for n, entry in enumerate(answer):
        entry = tuple(entry) if isinstance(entry, (list, tuple)) else entry
        pair = isinstance(entry, tuple) and len(entry) == length and entry[0] in kinds
        if not pair or not all(isinstance(i, int) for i in entry[1:]):
            return f" with {entry!r:.60} as entry {n}, counted from 0"
    return [tuple(entry) for entry in answer]
