"""This machine as a Cluster, measured once, so that the virtual cluster can simulate it (``on="virtual"``).

A rank is one core with its share of the memory. These are measured, each as the best of several short runs:

    peak          a matrix product of 512 x 512 in float64, float32 and bfloat16, on one thread
    bandwidth     the STREAM triad, a = b + s·c, on arrays much larger than the caches (McCalpin 1995): of one core, and
                  of all cores together, which is less than their sum where memory is the bottleneck
    launch        an operation on a tensor of one element
    alpha, beta   ping-pong between two gloo ranks over loopback, fitted by ``cost.fit``
    cores         counted; all ranks and their messages share them (``cost.contention``)

The result is stored as ``survey.json`` in ``progress.home()``, and measured again when the machine, its limits or torch
have changed. If two ranks cannot be started, typical values are used for alpha and beta, and measuring is retried after
ten minutes.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from lockstep.cost.fit import fit_alpha_beta
from lockstep.errors import LockstepError
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.machines import Cluster, Device, Link
from lockstep.progress import home
from lockstep.this_machine import host
from lockstep.this_machine.hardware import Hardware, hardware
from lockstep.this_machine.measure import launch_overhead, matmul_rate, one_thread, ping_pong_times, triad_bandwidth

DTYPES = ("float64", "float32", "bfloat16")
SIZES = (1, 4096, 65536, 2**20, 2**23)  # bytes of a ping
MANY = 1024  # ranks on the one node: more than anyone asks for, since all links here are loopback
RETRY = 600.0  # seconds for which typical values are kept
UNMEASURED = "Not measured, typical values"
TYPICAL_LOOPBACK = (65e-6, 1 / 1.5e9)  # alpha, beta: gloo on a two-core server (see machines)


@dataclass(frozen=True)
class Survey:
    """The survey: the machine as a cluster, and its components."""

    cluster: Cluster
    processor: str
    cores: int
    host_cores: int
    memory: int
    caches: dict[str, int]
    simd: list[str]
    gpus: list[str]
    hardware: Hardware = field(default_factory=Hardware)

    @property
    def complete(self) -> bool:
        """Whether loopback was measured, too."""
        return not self.cluster.inside.source.startswith(UNMEASURED)

    def __str__(self) -> str:
        device, link = self.cluster.device, self.cluster.inside
        rates = ", ".join(f"{dtype} {rate / 1e9:.0f}" for dtype, rate in device.flops.items())
        rows = {
            "processor": self.processor,
            "cores": f"{self.cores} usable of {self.host_cores}",
            "memory": f"{self.memory / 1e9:.1f} GB",
            "caches": ", ".join(f"{name} {size // 1024} KiB" for name, size in self.caches.items()) or "unknown",
            "SIMD": f"{self.hardware.simd_bits} bits: {', '.join(self.simd)}" if self.simd else "unknown",
            "layout": str(self.hardware),
            "GPUs": "; ".join(self.gpus) or "none",
            "matmul, one core": f"{rates} GFLOP/s",
            "memory bandwidth, one core": f"{device.memory_bandwidth / 1e9:.1f} GB/s",
            "memory bandwidth, all cores": f"{self.hardware.bandwidth / 1e9:.1f} GB/s",
            "smallest operation": f"{device.launch_overhead * 1e6:.1f} µs",
            "loopback": f"alpha {link.alpha * 1e6:.0f} µs, beta 1 / ({link.bandwidth / 1e9:.2f} GB/s). {link.source}",
        }
        return "\n".join(f"{name:<28}{value}" for name, value in rows.items())


def survey(refresh: bool = False, say: Callable[[str], None] = print) -> Cluster:
    """This machine as a cluster, from the stored survey or measured now (about 5 s, announced by ``say``)."""
    return full_survey(refresh, say).cluster


def full_survey(refresh: bool = False, say: Callable[[str], None] = print) -> Survey:
    """As ``survey``, with all components."""
    path, fingerprint = home() / "survey.json", _fingerprint()
    kept = None if refresh else _read(path, fingerprint)
    if kept is not None:
        return kept
    say("Surveying this machine, once: compute, memory and loopback. About 5 seconds.")
    found = measure()
    if not _write(path, fingerprint, found):
        say(f"The survey could not be kept in {path.parent}. It will be made again next time.")
    if not found.complete:
        say(found.cluster.inside.source)
    return found


def measure() -> Survey:
    """Measure the machine now, whether or not a survey is stored."""
    share = host.cores()
    memory = host.memory()
    with one_thread():
        device = Device(
            name=f"one core of {host.processor()}",
            flops={dtype: matmul_rate(getattr(torch, dtype)) for dtype in DTYPES},
            memory_bandwidth=triad_bandwidth(memory),
            memory=memory // share.usable,
            launch_overhead=launch_overhead(),
            source="Measured on this machine by lockstep.this_machine.survey, one thread.",
        )
    link, layout = loopback(), hardware(host.simd(), share.usable, memory)
    source = "Measured on this machine; its ranks share its cores and its memory."
    shared = (share.usable, layout.bandwidth or None)
    cluster = Cluster("this machine", device, MANY, link, link, source, *shared)
    facts = (host.processor(), share.usable, share.host, memory, host.caches(), host.simd(), host.gpus())
    return Survey(cluster, *facts, layout)


def loopback() -> Link:
    """The link between two gloo ranks, measured; typical values, with the reason, if two ranks cannot be started."""
    try:
        outcome = processes.run_processes(Job.pack(ping_pong_times, (SIZES,), {}, ranks=2, timeout=30.0, record=False))
        alpha, beta = fit_alpha_beta(SIZES, outcome.values[0])
    except (LockstepError, OSError) as error:
        reason = str(error).partition("\n")[0]
        return Link(*TYPICAL_LOOPBACK, f"{UNMEASURED}: two gloo ranks could not be had here. {reason}")
    return Link(alpha, beta, "Measured: ping-pong between two gloo ranks on this machine.")


def _fingerprint() -> dict[str, Any]:
    """What the measurements depend on, including the machine, since a home folder may be shared."""
    versions = {"format": 4, "torch": torch.__version__, "python": platform.python_version()}
    share = {"cores": host.cores().usable, "memory": host.memory()}
    return {**versions, "machine": platform.node(), "processor": host.processor(), **share}


def _read(path: Path, fingerprint: dict[str, Any]) -> Survey | None:
    """The stored survey; None if there is none, or it is corrupt, outdated or of another machine."""
    try:
        data = json.loads(path.read_text())
        if data["of"] != fingerprint:
            return None
        parts = {
            "cluster": Cluster.from_json(data["survey"]["cluster"]),
            "hardware": Hardware(**data["survey"]["hardware"]),
        }
        kept = Survey(**{**data["survey"], **parts})
        return kept if kept.complete or time.time() - data["when"] < RETRY else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _write(path: Path, fingerprint: dict[str, Any], found: Survey) -> bool:
    """Store the survey atomically. Returns whether it worked."""
    with suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".survey-", suffix=".json")
        with os.fdopen(handle, "w") as file:
            json.dump({"of": fingerprint, "when": time.time(), "survey": asdict(found)}, file, indent=1)
        os.replace(name, path)
        return True
    return False
