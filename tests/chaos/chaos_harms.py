"""What may befall a rank in the middle of a program, and what run() has to say about it."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist


@dataclass
class Harm:
    """``kind`` befalls ``rank`` when ``agent`` (mostly the rank itself) makes its call number ``turn``."""

    kind: str
    rank: int
    agent: int
    turn: int
    seconds: float = 0.0  # of a delay
    pids: list[int] = field(default_factory=list)
    clock: str = ""  # a file that takes the moment of the harm

    def meet(self) -> None:
        """Who strikes another process must know which."""
        if self.agent != self.rank:
            self.pids = [0] * dist.get_world_size()
            dist.all_gather_object(self.pids, os.getpid())

    @property
    def victim(self) -> int:
        return self.pids[self.rank] if self.pids else os.getpid()


def strike(harm: Harm) -> None:
    if harm.clock:
        Path(harm.clock).write_text(repr(now()))
    HARMS[harm.kind](harm)


def now() -> float:
    """Seconds of this machine's clock, on the virtual cluster too."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def kill(harm: Harm) -> None:
    os.kill(harm.victim, signal.SIGKILL)


def stop(harm: Harm) -> None:
    """A rank that stops itself stops this very thread first: on the virtual cluster others could run on meanwhile."""
    if harm.victim == os.getpid():
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    else:
        os.kill(harm.victim, signal.SIGSTOP)


def leave(harm: Harm) -> None:
    os._exit(3)


def fail(harm: Harm) -> None:
    raise ValueError("in the middle of it")


def sleep(harm: Harm) -> None:
    time.sleep(harm.seconds)


def compute(harm: Harm) -> None:
    """About as long on a processor; the virtual cluster's clock is no guide here."""
    for _ in range(int(500 * harm.seconds)):
        torch.ones(200, 200) @ torch.ones(200, 200)


def loop(harm: Harm) -> None:
    while True:
        pass


def poll(harm: Harm) -> None:
    work = dist.irecv(torch.zeros(1), (dist.get_rank() + 1) % dist.get_world_size(), tag=99)
    while not work.is_completed():
        pass


HARMS = {f.__name__: f for f in (kill, stop, leave, fail, sleep, compute, loop, poll)}
HARMLESS = ("sleep", "compute")
