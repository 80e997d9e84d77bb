"""``lockstep doctor``: checks of this machine and its installation, each with advice if it fails.

    findings = examine()        print(table(findings))        json.dumps(to_json(findings))

Each check is a function whose arguments are what it examines, so that a test can simulate a broken machine.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
import torch.distributed as dist

from lockstep.distribution import install
from lockstep.errors import LockstepError
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.progress import home
from lockstep.this_machine import host

GB, MIB = 10**9, 2**20
OF_THE_COURSE = ("jupyterlab", "nbgrader")  # the plain install runs programs without them
VERSIONS = {  # at least, below; a test compares them with pyproject.toml
    "torch": ("2.13", "2.16"),
    "numpy": ("2.0", ""),
    "jupyterlab": ("4.4", ""),
    "nbgrader": ("0.9.5", ""),
}


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    value: str  # what was found
    advice: str = ""  # what to do, if it is not ok
    optional: bool = False  # only some units need it


def python(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Finding:
    shown = ".".join(map(str, version))
    return Finding("Python", version >= (3, 11), shown, "Install Python 3.11 or later, then `make lab`.")


def package(name: str, found: str | None = None) -> Finding:
    """``found``: a version, or "" for a missing package; None examines this environment."""
    least, below = VERSIONS[name]
    wanted = f"{name}>={least}" + (f",<{below}" if below else "")
    advice = f"Run `make lab`, or in this environment: python -m pip install '{wanted}'."
    if found is None:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = ""
    if not found and name in OF_THE_COURSE:
        return Finding(name, False, "not installed", f"The course needs it: {install('course')}.", optional=True)
    if not found:
        return Finding(name, False, "not installed", advice)
    return Finding(
        name, _release(found) >= _release(least) and not (below and _release(found) >= _release(below)), found, advice
    )


def cores(found: host.Cores | None = None) -> Finding:
    c = found or host.cores()
    limits = [f"affinity {c.affinity}" if c.affinity < c.host else "", f"control group {c.quota:g}" if c.quota else ""]
    why = f" ({', '.join(filter(None, limits))})" if any(limits) else ""
    advice = (
        "Ranks will take turns on one core: all is right, but slow. Give the container or virtual machine two or more."
    )
    return Finding("cores", c.usable >= 2, f"{c.usable} usable of {c.host}{why}", advice)


def memory(limit: int | None = None, available: int | None = None) -> Finding:
    limit = host.memory() if limit is None else limit
    free = min(limit, psutil.virtual_memory().available if available is None else available)
    advice = "Close other programs, or give the container more memory: a rank takes about 0.3 GB."
    return Finding(
        "memory", limit >= 4 * GB and free >= 2 * GB, f"{limit / GB:.1f} GB, {free / GB:.1f} GB free", advice
    )


def gpus(listed: Sequence[str] | None = None, cuda: bool | None = None, nccl: bool | None = None) -> Finding:
    """GPUs are optional. One that torch cannot use is reported."""
    listed = host.gpus() if listed is None else listed
    cuda = torch.cuda.is_available() if cuda is None else cuda
    nccl = dist.is_nccl_available() if nccl is None else nccl
    if not listed and not cuda:
        return Finding("GPUs", True, "none: ranks run on cores, with gloo", optional=True)
    value = f"{'; '.join(listed) or torch.cuda.device_count()}; CUDA {'works' if cuda else 'does not work'}, "
    value += f"NCCL {'is there' if nccl else 'is missing'}"
    advice = (
        "Install a torch that is built for your CUDA driver (pytorch.org, Get Started); until then ranks run on cores."
    )
    return Finding("GPUs", cuda and nccl, value, advice, optional=True)


def shared_memory(folder: Path = Path("/dev/shm"), least: int = 256 * MIB) -> Finding:
    if platform.system() != "Linux" and not folder.exists():
        return Finding("shared memory", True, f"no {folder} on {platform.system()}, and no need of it")
    advice = "Start the container with --shm-size=1g (docker gives 64 MB), or: mount -o remount,size=1g /dev/shm."
    if not os.access(folder, os.W_OK):
        return Finding("shared memory", False, f"{folder} is not there or cannot be written to", advice)
    usage = shutil.disk_usage(folder)
    value = f"{usage.total / MIB:.0f} MiB in {folder}, {usage.free / MIB:.0f} MiB free"
    return Finding("shared memory", usage.free >= least, value, advice)


def loopback(address: str = "127.0.0.1") -> Finding:
    """Send a byte over loopback."""
    try:
        with socket.create_server((address, 0)) as server, socket.create_connection(server.getsockname(), 2) as client:
            server.settimeout(2)
            with server.accept()[0] as accepted:
                client.sendall(b"x")
                came = accepted.recv(1) == b"x"
        return Finding("loopback", came, f"{address} answers" if came else f"{address} loses bytes", _LOOPBACK)
    except OSError as error:
        return Finding("loopback", False, f"{address} does not answer: {error}", _LOOPBACK)


_LOOPBACK = (
    "Ranks on one machine talk through it: `sudo ip link set lo up`; in a sandbox, allow connections to 127.0.0.1."
)


def hostname(name: str | None = None) -> Finding:
    name = socket.gethostname() if name is None else name
    advice = f"gloo and Horovod look it up: add the line '127.0.1.1 {name}' to /etc/hosts."
    try:
        address = socket.getaddrinfo(name, None)[0][4][0]
    except (OSError, UnicodeError) as error:
        return Finding("hostname", False, f"{name!r} does not resolve: {error}", advice)
    return Finding("hostname", True, f"{name} is {address}", advice)


def ranks() -> Finding:
    """Run two real ranks that all-reduce a 1."""
    advice = "Mend loopback, hostname and memory first, where this list complains of them. Then run this again."
    if not dist.is_available() or not dist.is_gloo_available():
        return Finding(
            "ranks", False, "this torch has no gloo", "Install torch from pytorch.org: its builds have gloo."
        )
    try:
        outcome = processes.run_processes(Job.pack(_one_and_one, (), {}, ranks=2, timeout=60.0, record=False))
    except (LockstepError, OSError) as error:
        return Finding("ranks", False, str(error).partition("\n")[0], advice)
    right = list(outcome.values) == [2.0, 2.0]
    return Finding(
        "ranks",
        right,
        f"two ranks started and all-reduced in {outcome.time * 1e3:.0f} ms" if right else "wrong sum",
        advice,
    )


def _one_and_one() -> float:
    one = torch.ones(1)
    dist.all_reduce(one)
    return one.item()


def home_folder(folder: Path | None = None) -> Finding:
    folder = home() if folder is None else folder
    advice = "Make it writable, or set LOCKSTEP_HOME to a folder that is: scores and predictions are kept there."
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        return Finding("home", False, f"{folder}: {error.strerror or error}", advice)
    return Finding("home", True, f"{folder} is writable", advice)


def disk(folder: Path | None = None, least: int = 2 * GB) -> Finding:
    folder = Path(tempfile.gettempdir()) if folder is None else folder
    free = shutil.disk_usage(folder).free
    advice = f"Make room: runs and the notebooks keep temporary files in {folder}. TMPDIR chooses another folder."
    return Finding("disk", free >= least, f"{free / GB:.1f} GB free in {folder}", advice)


def compiler(programs: Sequence[str]) -> Finding:
    """The first of ``programs`` that is installed."""
    there = next((path for path in map(shutil.which, programs) if path), "")
    advice = "Unit 07 builds Horovod with it: `sudo apt install g++ make`, or on macOS `xcode-select --install`."
    return Finding(programs[0], bool(there), there or "not found", advice, optional=True)


def horovod(version: str | None = None) -> Finding:
    """``version``: "" if it is not installed; None examines this environment."""
    if version is None:
        try:
            version = importlib.metadata.version("horovod")
        except importlib.metadata.PackageNotFoundError:
            version = ""
    advice = "Unit 07 uses it: `lockstep horovod` builds it for the torch that you have, in some minutes."
    return Finding("Horovod", bool(version), version or "not installed", advice, optional=True)


def _release(version: str) -> tuple[int, ...]:
    """(2, 13, 0) of "2.13.0+cpu" and of "2.13.0rc1"."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else (0,)


CHECKS: dict[str, Callable[[], Finding]] = {
    "Python": python,
    **{name: partial(package, name) for name in VERSIONS},
    "cores": cores,
    "memory": memory,
    "GPUs": gpus,
    "shared memory": shared_memory,
    "loopback": loopback,
    "hostname": hostname,
    "ranks": ranks,
    "home": home_folder,
    "disk": disk,
    "g++": partial(compiler, ("g++", "clang++")),
    "make": partial(compiler, ("make",)),
    "Horovod": horovod,
}


def examine(checks: dict[str, Callable[[], Finding]] = CHECKS) -> list[Finding]:
    """Run all checks, in a second or two. An exception in a check becomes a finding, too."""
    return [_safely(name, check) for name, check in checks.items()]


def table(findings: Iterable[Finding]) -> str:
    """Plain text: a line for each finding, followed by its advice if it is not ok."""
    lines = []
    for f in findings:
        mark = "ok  " if f.ok else "note" if f.optional else "FAIL"
        lines.append(f"{mark}  {f.name:<14} {f.value}")
        if not f.ok:
            lines.append(f"{'':<21}{f.advice}")
    return "\n".join(lines)


def to_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Plain data for JSON; the advice only for findings that are not ok."""
    return [asdict(f) | {"advice": "" if f.ok else f.advice} for f in findings]


def _safely(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:
        return Finding(name, False, f"could not be examined: {type(error).__name__}: {error}", "Please report this.")
