"""The resources that this process may use: cores, memory, caches, SIMD, GPUs. They are read, not measured.

In a container the host's numbers are misleading: 64 threads in a container with 2 of 64 cores are very slow. So cores
and memory are those within the limits of control groups (cgroup v2: ``cpu.max``, ``memory.max``; v1:
``cpu.cfs_quota_us``, ``memory.limit_in_bytes``; https://docs.kernel.org/admin-guide/cgroup-v2.html) and the affinity
mask.

Every function takes the folders that it reads as arguments, so that a test can simulate another machine. What a process
cannot change for itself is read once; the affinity mask, each time.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
SIMD = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "sve", "bf16")


@dataclass(frozen=True)
class Cores:
    """The number of cores of the host, and how many of them this process may use."""

    host: int
    affinity: int  # by sched_setaffinity, taskset or a cpuset
    quota: float | None  # core-seconds a second that the control group allows

    @property
    def usable(self) -> int:
        """Whole usable cores: how many ranks can run in parallel."""
        return max(1, min(self.affinity, int(self.quota) if self.quota else self.affinity))


def cores(cgroups: Path = CGROUPS, membership: Path = MEMBERSHIP) -> Cores:
    """The cores of the host, of the affinity mask (which includes cpusets) and of the control group's quota."""
    host = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else host
    return Cores(host, affinity, _quota(cgroups, membership))


@cache
def _quota(cgroups: Path, membership: Path) -> float | None:
    quotas = [_quota_v2(folder) for folder in _folders("", cgroups, membership)]
    quotas += [_quota_v1(folder) for folder in _folders("cpu", cgroups, membership)]
    return min((q for q in quotas if q), default=None)


@cache
def memory(cgroups: Path = CGROUPS, membership: Path = MEMBERSHIP) -> int:
    """The memory for this process and its ranks in bytes: the host's, or the control group's limit if that is less."""
    limits = [_number(folder / "memory.max") for folder in _folders("", cgroups, membership)]
    limits += [_number(f / "memory.limit_in_bytes") for f in _folders("memory", cgroups, membership)]
    return min([int(psutil.virtual_memory().total), *(int(limit) for limit in limits if limit)])


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> dict[str, int]:
    """The cache sizes of one core in bytes, ``{"L1d": ..., "L2": ...}``; empty if unknown."""
    found = {}
    for index in sorted(folder.glob("index*")):
        level, kind, size = (_text(index / name) for name in ("level", "type", "size"))
        letter = {"Data": "d", "Instruction": "i"}.get(kind, "")
        if level and size.rstrip("KM").isdigit():
            found[f"L{level}{letter}"] = int(size.rstrip("KM")) * {"K": 2**10, "M": 2**20}.get(size[-1], 1)
    if not found and platform.system() == "Darwin":
        asked = {"L1d": "hw.l1dcachesize", "L1i": "hw.l1icachesize", "L2": "hw.l2cachesize", "L3": "hw.l3cachesize"}
        answers = {name: _output("sysctl", "-n", key) for name, key in asked.items()}
        found = {name: int(answer) for name, answer in answers.items() if answer.isdigit()}
    return found


@cache
def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The vendor's name of the processor model."""
    for line in _text(cpuinfo).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        return _output("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or platform.machine()


def simd(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """The SIMD instruction sets that matter for arithmetic, as /proc/cpuinfo spells them."""
    for line in _text(cpuinfo).splitlines():
        if line.startswith(("flags", "Features")):
            flags = set(line.partition(":")[2].split())
            return [name for name in SIMD if name in flags]
    return ["asimd"] if platform.machine() == "arm64" else []


def gpus() -> list[str]:
    """Name and memory of each GPU, by nvidia-smi, so that CUDA is not initialized in this process."""
    listing = _output("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")
    return [line.strip() for line in listing.splitlines() if line.strip()]


def _folders(controller: str, cgroups: Path, membership: Path) -> Iterator[Path]:
    """The folders of this process's control group and its ancestors, each of which may set a limit.

    A line of ``membership`` is "4:memory:/path" (v1) or "0::/path" (v2). In a container the path may be the host's and
    not exist; then the top folder is that of the container.
    """
    for line in _text(membership).splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if controller not in names.split(","):
            continue
        top = cgroups / names if controller else cgroups
        if controller and not top.is_dir():
            top = cgroups / controller
        inner = top / path.strip("/")
        while inner != top and inner.is_relative_to(top):
            yield inner
            inner = inner.parent
        yield top


def _quota_v2(folder: Path) -> float | None:
    quota, _, period = _text(folder / "cpu.max").partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None


def _quota_v1(folder: Path) -> float | None:
    quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
    return quota / period if quota and period else None


def _number(path: Path) -> float | None:
    """The number in a file; None for "max", for -1 and for no file."""
    text = _text(path)
    return float(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _output(*command: str) -> str:
    """The output of a command; "" if it is missing, fails or hangs."""
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    return ""
