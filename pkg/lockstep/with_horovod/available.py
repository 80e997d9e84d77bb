"""Is Horovod here? It is no dependency of Lockstep: it has to be compiled for the torch that is installed."""

from __future__ import annotations

import importlib.util

from lockstep.errors import WorldUnavailable

MODULES = ("horovod.torch", "horovod.runner.http.http_server")  # loaded once, by the server that ranks are forked from
MISSING = "Horovod is not installed here."
REMEDY = "`lockstep horovod` builds it for the torch that you have, in some minutes; it needs g++ and make."


def available() -> bool:
    """Whether ``import horovod.torch`` finds something; it is not imported."""
    try:
        return importlib.util.find_spec("horovod.torch") is not None
    except ModuleNotFoundError:
        return False


def require() -> None:
    """Raises WorldUnavailable, with what to do, where Horovod is missing."""
    if not available():
        raise WorldUnavailable(MISSING, REMEDY)
