"""Horovod into this environment: from the wheels that were built before, or built now.

~/.cache/lockstep/horovod/2.13.0+cpu-cpython-311-x86_64/horovod-0.28.1-cp311-cp311-linux_x86_64.whl
"""

from __future__ import annotations

import fcntl
import importlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from lockstep.errors import WorldUnavailable
from lockstep.with_horovod.available import available, mismatch, obstacle, version
from lockstep.with_horovod.build import RUNTIME, Tell, build, install, install_wheel, nccl

LOADS = "import horovod.torch as hvd; assert hvd.gloo_built()"  # a missing library is only a warning to horovod.torch


@dataclass(frozen=True)
class Installed:
    version: str
    fault: str = ""  # why it cannot be used

    def __str__(self) -> str:
        return self.fault or f"Horovod {self.version} is installed in {sys.prefix}."


def installed() -> Installed | None:
    """The Horovod of this environment, tried in a process of its own; None without one."""
    import torch

    importlib.invalidate_caches()
    if not available():
        return None
    if fault := mismatch(torch.__version__):
        return Installed(version(), fault)
    tried = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=False)
    last = (tried.stderr or tried.stdout).strip().rpartition("\n")[2]
    return Installed(version(), f"Horovod {version()} does not load: {last}" if tried.returncode else "")


def provide(tell: Tell, compile: bool = True) -> Installed | None:
    """Have a Horovod that works: as it is installed, else from the cache, else compiled. None if that is not allowed
    and needed. Of two processes, one compiles and the other waits.

    Raises WorldUnavailable with the reason.
    """
    with _alone(tell):
        now = installed()
        while not (now and not now.fault):
            if now:
                tell(now.fault, 0.0)
            kept = wheel()
            if kept is None and not compile:
                return None
            if kept is None and (lacking := obstacle()):
                raise WorldUnavailable("Horovod cannot be built here.", lacking)
            now = _from(kept or build(folder(), tell), tell, just_built=kept is None)
        return now


def _from(built: Path, tell: Tell, just_built: bool) -> Installed | None:
    """What becomes of installing a wheel. One that does not load is thrown away."""
    if not just_built:
        install(RUNTIME, tell)
    tell(f"pip installs {built.name}", 1.0)
    install_wheel(built)
    now = installed()
    if not now or now.fault:
        built.unlink()
        if just_built:
            raise WorldUnavailable(f"It was built, and is of no use. {now}", "Please report this.")
    return now


def wheel() -> Path | None:
    """That of an earlier build for this torch, Python and machine."""
    return next(iter(sorted(folder().glob("horovod-*.whl"))), None)


def folder() -> Path:
    import torch

    name = [torch.__version__, str(sys.implementation.cache_tag), platform.machine(), *(["nccl"] if nccl() else [])]
    return root() / "-".join(name)


def root() -> Path:
    """Of all that was built: in $LOCKSTEP_HOME, or the user's cache."""
    home = os.environ.get("LOCKSTEP_HOME") or platformdirs.user_cache_dir("lockstep", appauthor=False)
    return Path(home, "horovod")


@contextmanager
def _alone(tell: Tell) -> Iterator[None]:
    """One at a time. What a build has left behind that was killed is thrown away."""
    root().mkdir(parents=True, exist_ok=True)
    with Path(root(), "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("Another process builds Horovod; this one waits for it", 0.0)
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in root().glob("building-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
