"""The topology of this machine: NUMA nodes, shared caches, hardware threads, SIMD width, aggregate memory bandwidth.

It is read from /sys (``Documentation/ABI/testing/sysfs-devices-system-cpu`` of the Linux kernel), except for the memory
bandwidth of all cores together, which is measured. What a system does not provide keeps its default.

Every function takes the folder that it reads as an argument, so that a test can simulate another machine.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import torch

SYSTEM = Path("/sys/devices/system")
WIDTHS = {"avx512f": 512, "avx2": 256, "avx": 256, "sse4_2": 128, "asimd": 128}  # bits of a SIMD register


@dataclass(frozen=True)
class Hardware:
    """The topology as plain numbers, which the survey stores as JSON."""

    threads_per_core: int = 1  # hyper-threads
    numa: list[int] = field(default_factory=list)  # logical processors of each NUMA node
    shared: dict[str, int] = field(default_factory=dict)  # "L2" -> number of cores that share one such cache
    simd_bits: int = 0  # the widest register; 0 if unknown
    bandwidth: float = 0.0  # bytes/s of all usable cores together; 0 if not measured

    @property
    def simd_lanes(self) -> int:
        """The number of float32 values in a SIMD register."""
        return self.simd_bits // 32

    def __str__(self) -> str:
        nodes = f"{len(self.numa)} NUMA nodes" if len(self.numa) > 1 else "1 NUMA node"
        threads = f"{self.threads_per_core} hardware thread{'s' if self.threads_per_core > 1 else ''} a core"
        shared = ", ".join(f"{name} by {count}" for name, count in self.shared.items() if count > 1)
        return "; ".join(filter(None, [nodes, threads, f"shared: {shared}" if shared else ""]))


def hardware(simd: list[str], threads: int, memory: int, system: Path = SYSTEM) -> Hardware:
    """The topology of this machine, and its memory bandwidth on ``threads`` threads. Takes about half a second."""
    siblings = _processors(system / "cpu/cpu0/topology/thread_siblings_list")
    return Hardware(
        threads_per_core=max(1, siblings),
        numa=numa(system),
        shared={name: max(1, count // max(1, siblings)) for name, count in sharing(system).items()},
        simd_bits=max((WIDTHS.get(name, 0) for name in simd), default=0),
        bandwidth=bandwidth_of_all(threads, memory),
    )


def numa(system: Path = SYSTEM) -> list[int]:
    """The number of logical processors of each NUMA node that has any; empty if unknown."""
    counts = [_processors(node / "cpulist") for node in sorted((system / "node").glob("node[0-9]*"))]
    return [count for count in counts if count]


def sharing(system: Path = SYSTEM) -> dict[str, int]:
    """The number of logical processors that share each cache of processor 0: ``{"L1d": 1, "L3": 16}``."""
    found = {}
    for index in sorted((system / "cpu/cpu0/cache").glob("index*")):
        letter = {"Data": "d", "Instruction": "i"}.get(_text(index / "type"), "")
        if _text(index / "level"):
            found[f"L{_text(index / 'level')}{letter}"] = _processors(index / "shared_cpu_list")
    return {name: count for name, count in found.items() if count}


def bandwidth_of_all(threads: int, memory: int, seconds: float = 0.4) -> float:
    """Bytes/s of the STREAM triad a = b + s·c on ``threads`` threads at once: two arrays are read, one is written.

    Each thread measures its rate in its own CPU time, which does not advance while another program uses its core, and
    the rates are added. So other load affects the result little."""
    n = max(2**16, min(16 * 2**20, memory // 64) // threads)
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(lambda _: _triad_rate(n, seconds), range(threads)))
    finally:
        torch.set_num_threads(before)


def _triad_rate(n: int, seconds: float) -> float:
    """Bytes per second of this thread's CPU time."""
    torch.set_num_threads(1)
    b, c, a = (torch.ones(n, dtype=torch.float32) for _ in range(3))
    torch.add(b, c, alpha=3.0, out=a)
    moved, begin, deadline = 0, time.thread_time(), time.perf_counter() + seconds
    while not moved or time.perf_counter() < deadline:
        torch.add(b, c, alpha=3.0, out=a)
        moved += 3 * 4 * n
    return moved / max(time.thread_time() - begin, 1e-9)


def _processors(path: Path) -> int:
    """The number of processors in a list file such as "0-3,8-11"; 0 if there is none."""
    total = 0
    for part in filter(None, _text(path).split(",")):
        first, _, last = part.partition("-")
        if not first.isdigit():
            return 0
        total += int(last or first) - int(first) + 1
    return total


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
