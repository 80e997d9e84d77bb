"""An environment of its own for a framework: made by one command, completely or not at all.

~/.cache/lockstep/environments/tensorflow-2.21.0-cpython-311-x86_64/bin/python

It is a venv without pip: this environment's pip installs into it. One whose framework uses torch has no torch of its
own. A .pth file shows it the folder where torch is installed here, behind its own packages.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
import venv
from pathlib import Path

from lockstep.errors import WorldUnavailable
from lockstep.installs.frameworks import Framework
from lockstep.installs.heard import Heard, Tell, failed, hear
from lockstep.installs.kept import alone, kept
from lockstep.installs.with_pip import chosen, pip_for

MADE = "made.json"  # written last: an environment without it is not complete
LOG = "failed.log"
SHOWN = "torch_of_lockstep.pth"
PART = 0.9  # of the time: pip's


def root() -> Path:
    """The folder of all environments."""
    return kept("environments")


def folder(of: Framework) -> Path:
    """The environment's folder: one for each version of the framework and of Python, and each machine."""
    return root() / "-".join([of.name, of.version, str(sys.implementation.cache_tag), platform.machine()])


def python(of: Framework) -> Path:
    """The environment's interpreter."""
    return folder(of) / "bin" / "python"


def ready(of: Framework) -> bool:
    """Whether the environment is complete, and made for this torch and this list of packages. Nothing is started."""
    try:
        made = json.loads((folder(of) / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(made == _makings(of) and python(of).exists())


def missing(of: Framework) -> str:
    """What to say where it is not ready: the command, and what it takes."""
    return " ".join(_missing(of))


def _missing(of: Framework) -> tuple[str, str]:
    """What is missing, and the remedy."""
    return f"{of.shown} is not set up here.", f"`{of.command}` does that: {of.size}."


def require(of: Framework) -> Path:
    """The environment's interpreter. Raises WorldUnavailable, with a remedy, where there is none."""
    if not ready(of):
        raise WorldUnavailable(*_missing(of))
    return python(of)


def provide(of: Framework, tell: Tell) -> Path:
    """Make sure that the environment is there; its folder. Of two processes, one makes it and the other waits.

    Raises WorldUnavailable with the reason. Then nothing is left of it but the log."""
    with alone(root(), tell, waiting="Another process sets up an environment; this one waits for it"):
        if not ready(of):
            shutil.rmtree(folder(of), ignore_errors=True)  # of another torch, or of a process that was killed
            try:
                _make(of, tell)
            except BaseException:
                shutil.rmtree(folder(of), ignore_errors=True)
                raise
            (root() / LOG).unlink(missing_ok=True)
        return folder(of)


def _make(of: Framework, tell: Tell) -> None:
    tell(f"An environment for {of.shown}", 0.0)
    venv.create(folder(of), symlinks=True, with_pip=False)
    if of.uses_torch:
        _show(of, _torch())
    _well(of, "could not be installed", _install(of, tell))
    tell(f"{of.shown} is loaded for the first time", PART)
    _well(of, "does not load", hear([str(python(of)), "-c", of.loads], surroundings()))
    (folder(of) / MADE).write_text(json.dumps(_makings(of)), encoding="utf-8")


def _install(of: Framework, tell: Tell) -> Heard:
    """Let pip install exactly the listed packages. It says a line for each that it has found."""
    found, packages = 0, len(of.versions())

    def follow(line: str) -> None:
        nonlocal found
        if line.startswith("Collecting "):
            found += 1
            tell(f"pip fetches {line.split()[1].partition('=')[0]}", PART / 2 * found / packages)
        elif line.startswith("Installing "):
            tell("pip installs what it has fetched", PART / 2)

    listed = ["--no-deps", "--requirement", str(of.listed)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it does not count later
    return hear([*pip_for(python(of), "install"), *listed, *chosen()], env, follow)


def _well(of: Framework, fault: str, heard: Heard) -> None:
    if heard.status:
        raise failed(f"{of.shown} {of.version} {fault}", heard.lines, of.command, root() / LOG)


def surroundings() -> dict[str, str]:
    """The variables of a program that runs in such an environment: none of a launcher, of a proxy or of Python's own,
    and no GPU."""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
    quiet = {"CUDA_VISIBLE_DEVICES": "-1", "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}
    return {name: os.environ[name] for name in names if name in os.environ} | quiet | {"TF_USE_LEGACY_KERAS": "1"}


def _torch() -> Path:
    """The folder where torch is installed here; torch itself is not imported."""
    found = importlib.util.find_spec("torch")
    assert found
    assert found.origin
    return Path(found.origin).resolve().parents[1]


def _show(of: Framework, there: Path) -> None:
    (place,) = folder(of).glob("lib/python*/site-packages")
    (place / SHOWN).write_text(f"{there}\n", encoding="utf-8")


def _makings(of: Framework) -> dict[str, object]:
    """What an environment is made of. One that was made of something else is made anew."""
    made: dict[str, object] = {"packages": of.versions(), "base": sys.base_prefix}
    if of.uses_torch:
        made |= {"torch": importlib.metadata.version("torch"), "at": str(_torch())}
    return made
