"""Horovod's wheel, compiled for the torch that is installed.

PyPI has Horovod's sources only. Nothing of them is patched. Their CMake asks for C++17, by torch's version, where torch
2.13 needs C++20; the last ``-std`` on a compiler's command line wins, so a compiler that adds one is all it takes.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import WorldUnavailable
from lockstep.this_machine import host
from lockstep.with_horovod.available import compiler

VERSION = "0.28.1"
SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"  # of the sources
MINUTES = 3  # on two cores
GB = 10**9
JOB = 2 * GB  # a compiler takes 1.7 GB for the largest file

TOOLS = ("cmake>=3.26", "setuptools>=77", "wheel>=0.45")  # they build it
RUNTIME = ("cffi>=1.17", "packaging>=24.0", "pyyaml>=6.0")  # it runs with them, cloudpickle and psutil; built with, too
LOG = "failed.log"

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

Tell = Callable[[str, float], None]  # what is going on, and how much of all is done: 0.0 to 1.0


def build(target: Path, tell: Tell) -> Path:
    """The wheel, in the folder ``target``: all of it, or nothing.

    Raises WorldUnavailable with the reason; what pip and the compiler said is then kept beside ``target``.
    """
    install(TOOLS + RUNTIME, tell)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=target.parent) as folder:
        work = Path(folder)
        tell("Horovod's sources are fetched", 0.0)
        heard = hear(wheel_command(work), environment(work), lambda line: follow(line, tell))
        wheels = list(work.glob("horovod-*.whl"))
        if heard.status or not wheels:
            raise failed("Horovod could not be built", heard.lines, target.parent / LOG)
        (target.parent / LOG).unlink(missing_ok=True)
        target.mkdir(exist_ok=True)
        return wheels[0].replace(target / wheels[0].name)


def wheel_command(work: Path) -> list[str]:
    """pip keeps wheels that it has built, whichever torch they were built for: --no-cache-dir."""
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
    """For the build. What is set already, as HOROVOD_GPU_OPERATIONS may be, stays."""
    wrapper = work / "c++"
    wrapper.write_text(COMPILER.format(compiler=compiler()))
    wrapper.chmod(0o755)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    gpu = {"HOROVOD_GPU_OPERATIONS": "NCCL"} if nccl() else {}
    set_here = {"PATH": path, "CXX": str(wrapper), "MAKEFLAGS": f"-j{jobs()}", "TMPDIR": str(work)}
    return SETTINGS | gpu | os.environ | set_here


def jobs() -> int:
    """How many files are compiled at once: as many as there are cores and memory for."""
    return max(1, min(host.cores().usable, int(host.memory() / JOB)))


def nccl() -> bool:
    """Whether Horovod can be built for GPUs: CUDA's compiler and NCCL's header are here, and torch is for CUDA, too."""
    import torch

    nvcc = shutil.which("nvcc")
    homes = [os.environ.get("HOROVOD_NCCL_HOME"), "/usr", "/usr/local/cuda", nvcc and Path(nvcc).resolve().parents[1]]
    return bool(torch.version.cuda and nvcc and any(Path(h, "include", "nccl.h").exists() for h in homes if h))


# ---- pip


def install(packages: Sequence[str], tell: Tell) -> None:
    """Have ``packages`` in this environment, in the versions of constraints.txt where that is at hand. What is there
    already stays, and then no network is needed."""
    tell("pip looks for what Horovod needs", 0.0)
    heard = hear([*pip("install"), *pip_arguments(), *packages], dict(os.environ))
    if heard.status:
        raise failed(f"pip could not install {', '.join(packages)}", heard.lines)


def install_wheel(wheel: Path) -> None:
    """In place of the Horovod that is installed, if one is."""
    heard = hear([*pip("install"), "--no-deps", "--no-index", "--force-reinstall", str(wheel)], dict(os.environ))
    if heard.status:
        raise failed(f"pip could not install {wheel}", heard.lines)


def pip(command: str) -> list[str]:
    return [sys.executable, "-m", "pip", command, "--disable-pip-version-check"]


def pip_arguments() -> list[str]:
    """$PIP_ARGS, as `make` takes it, and a clone's constraints.txt."""
    constraints = Path(__file__).parents[3] / "constraints.txt"
    held = ["--constraint", str(constraints)] if constraints.exists() else []
    return [*held, *shlex.split(os.environ.get("PIP_ARGS", ""))]


@dataclass(frozen=True)
class Heard:
    status: int
    lines: list[str]


def hear(command: Sequence[str], env: dict[str, str], each: Callable[[str], None] = lambda line: None) -> Heard:
    """Run a command; ``each`` gets its lines as they come. If anything interrupts this, nothing is left running."""
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    lines = []
    try:
        assert process.stdout
        for line in process.stdout:
            lines.append(line.rstrip())
            each(lines[-1])
        return Heard(process.wait(), lines)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


# ---- What they say

# How much of the whole time has gone by when make tells these percentages, by a build with g++ 12 on two cores. The
# last two files, which know all of torch, take a quarter of it.
PERCENT = (0, 1, 55, 66, 72, 79, 84, 88, 97, 98, 100)
PART = (0.10, 0.11, 0.20, 0.24, 0.37, 0.40, 0.48, 0.55, 0.59, 0.68, 0.97)


def follow(line: str, tell: Tell) -> None:
    """Tell how far the build is: make says it, as "[ 42%] Building CXX object ..."."""
    if found := re.match(r"\s*\[ *(\d+)%\]", line):
        tell("Horovod is compiled", done(int(found[1])))
    elif "Running CMake" in line:
        tell("CMake looks at this machine", PART[0])


def done(percent: int) -> float:
    """The part of the time, between the measured percentages on a straight line."""
    i = min(bisect_right(PERCENT, percent), len(PERCENT) - 1)
    before, after = PERCENT[i - 1], PERCENT[i]
    return PART[i - 1] + (PART[i] - PART[i - 1]) * (percent - before) / (after - before)


CAUSES = (  # what says why, best first
    r"connection broken by .*?((?:Failed|Name|No|\[Errno)[^'\")]*)",
    r"error: (?!subprocess-exited)(.*)",
    r"(CMake Error.*(?:\n.*){0,2})",
    r"^\s*(\w+Error: .*)",
    r"ERROR: (.*)",
    r"(No module named .*)",
)


def reason(lines: Sequence[str]) -> str:
    """The line that says best why it failed."""
    said = "\n".join(lines)
    found = next(filter(None, (re.search(cause, said, re.MULTILINE) for cause in CAUSES)), None)
    return " ".join(found[1].split()) if found else lines[-1] if lines else "it said nothing"


def failed(what: str, lines: Sequence[str], log: Path | None = None) -> WorldUnavailable:
    remedy = "Is there a network? Then run `lockstep horovod` again."
    if log:
        log.write_text("\n".join([*lines, ""]))
        remedy = f"All that was said is in {log}. Then run `lockstep horovod` again."
    return WorldUnavailable(f"{what}: {reason(lines)}", remedy)
