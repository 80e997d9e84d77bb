"""Parallel fits of parallel estimators: outer × inner threads must fit into the cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from joblib import Parallel, delayed

Fit = Callable[[int], Any]  # fit(n_threads): computes with so many threads


def mend_oversubscription(fits: Sequence[Fit], cores: int) -> list[Any]:
    """What every ``fit`` returns, in order, with never more than ``cores`` threads at work.

    As many fits at once as there are cores, since whole fits seldom wait for each other; what is left over goes into
    each of them."""
    outer = max(1, min(cores, len(fits)))
    inner = cores // outer
    return list(Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(inner) for fit in fits))


def oversubscribed(fits: Sequence[Fit], cores: int) -> list[Any]:
    """The program to be mended: every fit believes that the whole machine is its own. cores² threads."""
    return list(Parallel(n_jobs=cores, prefer="threads")(delayed(fit)(cores) for fit in fits))
