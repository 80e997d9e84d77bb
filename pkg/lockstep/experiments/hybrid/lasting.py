"""What a plan for equal GPUs that never fail leaves out: a slow GPU, failures, and how many GPUs one NVLink joins.

interval    a checkpoint takes d seconds; M seconds between failures; t from one checkpoint to the next
            loss = d/t + (t/2 + R)/M       (``planner.invoice``, with its sources)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import sqrt
from typing import NamedTuple

from lockstep.experiments.hybrid.by_hand import simulated
from lockstep.hybrid.published_steps import MACHINE
from lockstep.hybrid.simulated_step import SimulatedStep
from lockstep.planner import clusters, models, stacks
from lockstep.planner.answers import default_batch
from lockstep.planner.invoice import CHECKPOINT_BYTES, GPU_SECONDS_BETWEEN, RESTART, STORAGE
from lockstep.planner.plans import Job
from lockstep.planner.search import search
from lockstep.planner.step import Estimate
from lockstep.tables import Table
from lockstep.tally import counted

Line = Callable[[float, float], float]

# ---- a slow GPU

SLOW, SPEED = 40, 0.5  # a rank of the sixth of twelve stages


def with_a_slow_rank(speed: float = SPEED) -> SimulatedStep:
    """GPT-3 on 96 A100, of which one computes at this share of the others' speed."""
    return simulated(on=MACHINE.with_rank(SLOW, speed=speed))


def slower(speed: float = SPEED) -> float:
    """How many times as long as with equal GPUs a step takes."""
    return with_a_slow_rank(speed).time / simulated().time


# ---- failures


class Setting(NamedTuple):
    """A model on so many GPUs, with Llama 3's failures and storage for each GPU."""

    model: str
    gpus: int

    @property
    def between(self) -> float:
        """Seconds between failures, M."""
        return GPU_SECONDS_BETWEEN / self.gpus

    @property
    def writing(self) -> float:
        """Seconds for a checkpoint, d."""
        return CHECKPOINT_BYTES * models.find(self.model).parameters / (STORAGE * self.gpus)


SETTINGS = (Setting("llama3-8b", 64), Setting("gpt3-175b", 1024), Setting("llama3-405b", 16384))


def loss(t: float, d: float, M: float, R: float = RESTART) -> float:
    """Seconds lost for each second of progress, by the formula."""
    return d / t + (t / 2 + R) / M


def lived_through(t: float, d: float, M: float, R: float = RESTART, failures: int = 4000, seed: int = 0) -> float:
    """The same, of a run that meets so many failures at random times."""
    drawn, spent, done = random.Random(seed), 0.0, 0.0
    for _ in range(failures):
        alive = drawn.expovariate(1 / M)
        spent += alive + R
        done += alive // (t + d) * t  # what the last checkpoint holds
    return spent / done - 1


def interval_table(line: Line) -> Table:
    rows = []
    for setting in SETTINGS:
        d, M = setting.writing, setting.between
        t = line(d, M)
        rows.append([
            setting.model, f"{setting.gpus:,}", f"{M / 3600:,.1f} h", f"{d:.1f} s", f"{t / 60:.1f} min",
            *(f"{100 * loss(each, d, M):.2f} %" for each in (t / 4, t)), f"{100 * lived_through(t, d, M):.2f} %",
        ])  # fmt: skip
    head = [
        "model",
        "GPUs",
        "a failure every",
        "writing",
        "your interval",
        "lost at ¼ or 4 times",
        "at yours",
        "lived through",
    ]
    return Table("Checkpoints by your line: what is lost, by the formula and in 4,000 random failures", head, rows)


def best(d: float, M: float) -> float:
    return sqrt(2 * d * M)


# ---- topology

DOMAINS, GPUS = (8, 72), 288
ON = "gb200-nvl72"
MODELS = ("llama3-70b", "deepseek-v3")


def on_domains(model: str, domain: int) -> Estimate:
    """The best plan on the same GPUs and the same network, with so many of them on one NVLink."""
    cluster = replace(clusters.sized(clusters.CLUSTERS[ON], GPUS), domain=domain)
    shape = models.find(model, 4096)
    job = Job(shape, cluster, 2 * default_batch(GPUS, shape.seq))
    return search(job, stacks.STACKS["bridge-26.06"], top=1).best[0]


def domains_table() -> Table:
    rows = []
    for model, domain in counted(list(product(MODELS, DOMAINS)), "Planning"):
        found = on_domains(model, domain)
        p = found.plan
        rows.append([
            model, str(domain), *(str(n) for n in (p.dp, p.tp, p.pp, p.ep)), f"{found.step_time:.2f} s",
            f"{found.communication['tp'] + found.communication['ep']:.2f} s",
        ])  # fmt: skip
    head = ["model", "GPUs on an NVLink", "dp", "tp", "pp", "ep", "step", "tp and ep, exposed"]
    return Table(f"The best plans for {GPUS} GPUs of GB200, joined by eights and by 72", head, rows)
