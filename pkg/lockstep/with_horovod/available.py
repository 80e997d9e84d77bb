"""Whether Horovod can be used here. It is not a dependency of Lockstep, since it has to be compiled for the installed
torch.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from lockstep.errors import WorldUnavailable

MODULES = ("horovod.torch", "horovod.runner.http.http_server")  # loaded once, by the server that ranks are forked from
MISSING = "Horovod is not installed here."
REMEDY = "`lockstep horovod` builds it for the torch that you have, in some minutes; it needs g++ and make."
ANEW = "`lockstep horovod` builds it anew, in some minutes."


def available() -> bool:
    """Whether ``horovod.torch`` can be imported; it is not imported."""
    return _place() is not None


def require() -> None:
    """Raises WorldUnavailable, with a remedy, where Horovod is missing or was built for another torch."""
    if not available():
        raise WorldUnavailable(MISSING, obstacle() or REMEDY)
    torch = sys.modules.get("torch")
    if torch and (fault := mismatch(torch.__version__)):
        raise WorldUnavailable(fault, ANEW)


def version() -> str:
    """The version of the installed Horovod; "" without one."""
    try:
        return importlib.metadata.version("horovod")
    except importlib.metadata.PackageNotFoundError:
        return ""


def mismatch(torch: str) -> str:
    """A sentence, if the installed Horovod was built for another torch than ``torch``, such as "2.13.0+cpu"; otherwise
    ""."""
    built_for = _metadata().get("pytorch", torch)
    return "" if built_for == torch else f"Horovod was built for torch {built_for}, and this is torch {torch}."


def compiler() -> str:
    """The C++ compiler's command: $CXX, which conda sets, or g++."""
    return os.environ.get("CXX", "").strip() or "g++"


def obstacle() -> str:
    """What this machine lacks to build Horovod, and how to get it, in one sentence; "" if nothing."""
    lacking = [program for program in (compiler(), "make") if not shutil.which(program.split()[0])]
    if lacking:
        return (
            f"Building it needs {' and '.join(lacking)}: on Debian, apt-get install g++ make; "
            "on macOS, xcode-select --install. Then `lockstep horovod`."
        )
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.exists():
        return f"Building it needs {header}: on Debian, apt-get install python3-dev. Then `lockstep horovod`."
    return ""


def _place() -> Path | None:
    """The folder of ``horovod``, if ``horovod.torch`` is in it."""
    try:
        found = importlib.util.find_spec("horovod.torch")
    except ModuleNotFoundError:
        return None
    return Path(found.origin).parents[1] if found and found.origin else None


def _metadata() -> dict[str, str]:
    """The metadata that Horovod's build has written: the version of torch is in it."""
    try:
        found: dict[str, str] = json.loads(((_place() or Path()) / "metadata.json").read_text())
    except (OSError, ValueError):
        return {}
    return found
