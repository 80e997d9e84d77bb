"""``os.environ`` for each rank: what one sets, no other one sees, as in separate processes.

Python's half is a dict per rank, looked up for the calling thread. C's half (``getenv``) exists once in a process: it
has whatever was set last, and is made equal to the rank's before the rank starts a process, which inherits it.
"""

from __future__ import annotations

import functools
import multiprocessing.util
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lockstep.virtual.rank_threads import owner


class RankEnvironment(type(os.environ)):  # type: ignore[misc]
    """The class of ``os.environ`` once ``install`` was called. ``_data`` is where Python keeps what it shows."""

    _own: Sequence[dict[Any, Any]]

    @property
    def _data(self) -> dict[Any, Any]:
        rank = owner()
        shared: dict[Any, Any] = vars(self)["_data"]
        return shared if rank is None else self._own[rank]


def install(variables: Sequence[Mapping[str, str]]) -> None:
    """Give each rank an environment of its own: that of this process, and the rank's ``variables``."""
    env: Any = os.environ
    own = [dict(env._data) for _ in variables]
    as_bytes: Any = os.environb
    for environment in (env, as_bytes):  # the objects stay what they are, since some modules hold them
        environment.__class__ = RankEnvironment
        environment._own = own
    env.update(variables[0])  # for threads of no rank
    for mine, more in zip(own, variables, strict=True):
        mine.update({env.encodekey(name): env.encodevalue(value) for name, value in more.items()})
    os.register_at_fork(before=functools.partial(_export, own))
    starting: Any = ((subprocess.Popen, "_execute_child"), (multiprocessing.util, "spawnv_passfds"), (os, "system"))
    for module, name in starting:
        setattr(module, name, _exporting(getattr(module, name), own))


def _exporting(start: Callable[..., Any], own: Sequence[Mapping[Any, Any]]) -> Callable[..., Any]:
    @functools.wraps(start)
    def call(*args: Any, **kwargs: Any) -> Any:
        _export(own)
        return start(*args, **kwargs)

    return call


def _export(own: Sequence[Mapping[Any, Any]]) -> None:
    """Make C's environment that of the calling rank."""
    rank = owner()
    if rank is None:
        return
    for name in set().union(*own) - own[rank].keys():
        os.unsetenv(name)
    for name, value in own[rank].items():
        os.putenv(name, value)
