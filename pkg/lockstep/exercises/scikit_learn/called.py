"""A call of a learner's function: what it returns, whether it ends, and which of its arguments it changes. Facts, no
sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import joblib
import numpy as np


def called(
    fn: Callable[..., Any], arguments: tuple[Any, ...], explained: Callable[[], bool]
) -> tuple[Any, bool, list[bool]]:
    """What ``fn`` returns; whether it did: not where it raised, and what was written down explains that; and of each
    argument whether it is spoilt."""
    before = list(map(digest, arguments))
    try:
        result, ended = fn(*arguments), True
    except Exception as error:
        if isinstance(error, NotImplementedError) or not explained():
            raise
        result, ended = None, False
    return result, ended, [digest(a) != was for a, was in zip(arguments, before, strict=True)]


def digest(given: Any) -> str | None:
    """Of an array or a dict, all that is in it. None of anything else: an estimator may be looked at more closely, and
    a splitter counts its calls."""
    return str(joblib.hash(given)) if isinstance(given, (np.ndarray, dict)) else None
