"""``lockstep horovod``: Horovod's wheel, compiled for the installed torch, cached, and installed in this environment.

~/.cache/lockstep/horovod/2.13.0+cpu-cpython-311-x86_64/horovod-0.28.1-cp311-cp311-linux_x86_64.whl

PyPI has only Horovod's sources, which are built unpatched. Their CMake asks for C++17, by torch's version, where torch
2.13 needs C++20; the last ``-std`` on a compiler's command line wins, so a compiler wrapper that adds one is enough.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import WorldUnavailable
from lockstep.installs.heard import Tell, failed, hear
from lockstep.installs.kept import alone, kept
from lockstep.installs.with_pip import pip, pip_arguments
from lockstep.this_machine import host
from lockstep.with_horovod.available import available, compiler, mismatch, obstacle, version

VERSION = "0.28.1"
SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"  # of the sources
MINUTES = 3  # on two cores
GB = 10**9
JOB = 2 * GB  # a compiler takes 1.7 GB for the largest file

TOOLS = ("cmake>=3.26", "setuptools>=77", "wheel>=0.45")  # they build it
RUNTIME = ("cffi>=1.17", "packaging>=24.0", "pyyaml>=6.0")  # it runs with them, cloudpickle and psutil; built with, too
LOG = "failed.log"
AGAIN = "lockstep horovod"

COMPILER = '#!/bin/sh\nexec {compiler} "$@" -std=c++20 -O1 -g0\n'
SETTINGS = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_TENSORFLOW": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "CMAKE_POLICY_VERSION_MINIMUM": "3.5",  # CMake 4 refuses what older projects ask for
    "CMAKE_GENERATOR": "Unix Makefiles",  # its percentages are read below
    "LDFLAGS": "-s",
    "PYTHONUNBUFFERED": "1",
}

LOADS = "import horovod.torch as hvd; assert hvd.gloo_built()"  # a missing library is only a warning to horovod.torch


@dataclass(frozen=True)
class Installed:
    """The Horovod of this environment."""

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
    """Make sure that a Horovod works here: as it is installed, or else from the cache, or else compiled. None if it
    would have to be compiled and may not be. Of two processes, one compiles and the other waits.

    Raises WorldUnavailable with the reason."""
    with alone(root(), tell, waiting="Another process builds Horovod; this one waits for it"):
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
    """Install a wheel, and return the result. A wheel that does not load is deleted."""
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
    """The wheel of an earlier build for this torch, Python and machine."""
    return next(iter(sorted(folder().glob("horovod-*.whl"))), None)


def folder() -> Path:
    import torch

    name = [torch.__version__, str(sys.implementation.cache_tag), platform.machine(), *(["nccl"] if nccl() else [])]
    return root() / "-".join(name)


def root() -> Path:
    """The folder of all builds: in $LOCKSTEP_HOME, or the user's cache."""
    return kept("horovod")


# ---- the build


def build(target: Path, tell: Tell) -> Path:
    """Build the wheel in the folder ``target``: completely, or not at all.

    Raises WorldUnavailable with the reason; the output of pip and the compiler is then kept next to ``target``."""
    install(TOOLS + RUNTIME, tell)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=target.parent) as folder:
        work = Path(folder)
        tell("Horovod's sources are fetched", 0.0)
        heard = hear(wheel_command(work), environment(work), lambda line: follow(line, tell))
        wheels = list(work.glob("horovod-*.whl"))
        if heard.status or not wheels:
            raise failed("Horovod could not be built", heard.lines, AGAIN, target.parent / LOG)
        (target.parent / LOG).unlink(missing_ok=True)
        target.mkdir(exist_ok=True)
        return wheels[0].replace(target / wheels[0].name)


def wheel_command(work: Path) -> list[str]:
    """pip caches the wheels that it has built, whichever torch they were built for: hence --no-cache-dir."""
    required = work / "requirements.txt"
    required.write_text(f"horovod=={VERSION} --hash=sha256:{SHA256}\n")
    alone = ["--no-build-isolation", "--no-deps", "--no-binary", "horovod", "--no-cache-dir"]
    return [
        *pip("wheel"),
        "-v",
        *alone,
        "--require-hashes",
        "--wheel-dir",
        str(work),
        "--requirement",
        str(required),
        *pip_arguments(),
    ]


def environment(work: Path) -> dict[str, str]:
    """The environment of the build. Variables that are set already, such as HOROVOD_GPU_OPERATIONS, stay."""
    wrapper = work / "c++"
    wrapper.write_text(COMPILER.format(compiler=compiler()))
    wrapper.chmod(0o755)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    gpu = {"HOROVOD_GPU_OPERATIONS": "NCCL"} if nccl() else {}
    set_here = {"PATH": path, "CXX": str(wrapper), "MAKEFLAGS": f"-j{jobs()}", "TMPDIR": str(work)}
    return SETTINGS | gpu | os.environ | set_here


def jobs() -> int:
    """The number of files to compile at once: as many as there are cores and memory for."""
    return max(1, min(host.cores().usable, int(host.memory() / JOB)))


def nccl() -> bool:
    """Whether Horovod can be built for GPUs: CUDA's compiler and NCCL's header are here, and torch is built for
    CUDA."""
    import torch

    nvcc = shutil.which("nvcc")
    homes = [os.environ.get("HOROVOD_NCCL_HOME"), "/usr", "/usr/local/cuda", nvcc and Path(nvcc).resolve().parents[1]]
    return bool(torch.version.cuda and nvcc and any(Path(h, "include", "nccl.h").exists() for h in homes if h))


# ---- pip


def install(packages: Sequence[str], tell: Tell) -> None:
    """Install ``packages`` in this environment, in the versions of constraints.txt where there is one. What is already
    installed stays, and needs no network."""
    tell("pip looks for what Horovod needs", 0.0)
    heard = hear([*pip("install"), *pip_arguments(), *packages], dict(os.environ))
    if heard.status:
        raise failed(f"pip could not install {', '.join(packages)}", heard.lines, AGAIN)


def install_wheel(wheel: Path) -> None:
    """Install a wheel in place of the Horovod that is installed, if any."""
    heard = hear([*pip("install"), "--no-deps", "--no-index", "--force-reinstall", str(wheel)], dict(os.environ))
    if heard.status:
        raise failed(f"pip could not install {wheel}", heard.lines, AGAIN)


# ---- the output of pip and make

# The part of the whole time that has passed when make prints these percentages, in a build with g++ 12 on two cores.
# The last two files, which include all of torch, take a quarter of it.
PERCENT = (0, 1, 55, 66, 72, 79, 84, 88, 97, 98, 100)
PART = (0.10, 0.11, 0.20, 0.24, 0.37, 0.40, 0.48, 0.55, 0.59, 0.68, 0.97)


def follow(line: str, tell: Tell) -> None:
    """Report how far the build is, from make's output: "[ 42%] Building CXX object ..."."""
    if found := re.match(r"\s*\[ *(\d+)%\]", line):
        tell("Horovod is compiled", done(int(found[1])))
    elif "Running CMake" in line:
        tell("CMake looks at this machine", PART[0])


def done(percent: int) -> float:
    """The part of the time that has passed at make's ``percent``, interpolated between the measured points."""
    i = min(bisect_right(PERCENT, percent), len(PERCENT) - 1)
    before, after = PERCENT[i - 1], PERCENT[i]
    return PART[i - 1] + (PART[i] - PART[i - 1]) * (percent - before) / (after - before)
