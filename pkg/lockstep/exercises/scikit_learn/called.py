"""A call of a learner's function: what it returns, and whether it ends. Facts, no sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def called(fn: Callable[..., Any], arguments: tuple[Any, ...], explained: Callable[[], bool]) -> tuple[Any, bool]:
    """What ``fn`` returns; and whether it did: not where it raised, and what was written down explains that."""
    try:
        return fn(*arguments), True
    except Exception as error:
        if isinstance(error, NotImplementedError) or not explained():
            raise
        return None, False
