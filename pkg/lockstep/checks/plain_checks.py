"""A teacher's check of a plain exercise, ``check_...(answer)``: it runs where the judge is, and the learner's function
elsewhere.

What a check expects stays a secret only as long as it does not run beside the answer, which could read the frames above
its own. So the check is *replayed*. ``answer(...)`` gives what the call has given when it was observed; at the first
call of which nothing is known yet the replay ends, that call is made with those before it, and the check begins once
more. Random numbers that it draws are the same each time, and others under grading.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from lockstep.checks.plain import Other

MOST = 50  # calls of a check: each takes a run


class _Ended(BaseException):
    """Nothing that a check catches."""


class _Unknown(_Ended):
    """The next call has not been observed yet."""


class _Unusable(_Ended):
    """What the last call gave is nothing that a check could be given: a generator, say."""


@dataclass(frozen=True)
class Replay:
    """How far a check has come: the calls that it has made; and ``failed``: the sentence of the assert that did not
    hold, or of what Python says to an answer that the check cannot use. ``done``: it has nothing more to ask."""

    calls: tuple[tuple[Any, ...], ...]
    done: bool = False
    failed: str = ""
    unusable: bool = False  # what the last call gave


def replayed(
    check: Callable[..., Any], bound: Callable[..., tuple[Any, ...]], answers: Sequence[Any], seed: int
) -> Replay:
    """Run ``check`` with the ``answers`` that its calls have got so far. ``bound``: a call's arguments, in their
    order."""
    calls: list[tuple[Any, ...]] = []

    def answer(*given: Any, **named: Any) -> Any:
        calls.append(copy.deepcopy(bound(*given, **named)))
        if len(calls) > len(answers):
            raise _Unknown
        value = answers[len(calls) - 1]
        if isinstance(value, Other):
            raise _Unusable
        return copy.deepcopy(value)

    with _drawing(seed):
        try:
            check(answer)
        except _Unknown:
            return Replay(tuple(calls))
        except _Unusable:
            return Replay(tuple(calls), done=True, unusable=True)
        except AssertionError as error:
            return Replay(tuple(calls), done=True, failed=str(error) or "The check does not hold.")
        except Exception as error:
            told = f"{type(error).__name__}: {error}".rstrip(": ").rstrip(".")
            return Replay(tuple(calls), done=True, failed=f"The check cannot go on with that: {told}.", unusable=True)
    return Replay(tuple(calls), done=True)


@contextmanager
def _drawing(seed: int) -> Iterator[None]:
    """Random numbers by this seed; those of whoever called go on as if none had been drawn."""
    of_python, of_numpy = random.getstate(), numpy.random.get_state()
    with torch.random.fork_rng(devices=[]):
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(of_python)
            numpy.random.set_state(of_numpy)
