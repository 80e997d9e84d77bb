"""Simulated training steps beside published ones: GPTs of up to a trillion parameters on up to 3,072 A100.

Nothing is fitted to these rows: devices and links are those that programs reach (``cost.reached_devices``), the same
for all. Memory has no published number; beside it stands what the papers' formulas give for the first stage.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.cost.tensor_parallel import published_activations
from lockstep.hybrid import mixture_steps
from lockstep.hybrid.beside_planner import NAMES, items, planned
from lockstep.hybrid.mixture_steps import MixtureStep
from lockstep.hybrid.published_steps import KORTHIKANTI, MACHINE, PublishedStep, model_flops, steps
from lockstep.hybrid.simulated_step import SimulatedStep, simulate_step

MOST_STAGES: Mapping[Size, int] = {"quick": 8, "normal": 16, "full": 64}  # a step of 64 stages takes half a minute
BYTES_OF_STATES = 16  # of a parameter: ``hybrid.gradient_buckets``


def tables(size: Size) -> list[Table]:
    chosen = [step for step in steps() if step.grid.pp <= MOST_STAGES[size] and (size != "quick" or is_gpt_3(step))]
    simulated, itemised = [], []
    for step in chosen:
        found, host = simulated_here(step)
        simulated.append(row(step, found, host))
        itemised.append(beside(step, found))
    return [
        Table(f"step: simulated beside published, DGX A100, {len(chosen)} steps", simulated, NOTES),
        Table("step: simulated and planned, item by item", itemised, ITEMS),
        Table("step: mixtures of experts, simulated and planned", list(map(mixture, mixtures(size))), MIXED),
    ]


NOTES = (
    "MFU by the model's FLOPs and 312 TFLOP/s. Shares of an average rank's time: computing, waiting for the tensor "
    "group, for the data group, for messages of the pipeline, and the bubble.",
    "Memory: the fullest rank's, and what the papers' formulas give for the first stage (16 bytes a parameter, "
    "activations by arXiv:2205.05198, Table 2).",
    "Host: seconds of this machine for recording and playing.",
)

ITEMS = (
    "Of each item the planner's seconds, less the simulation's. Both add up: a model that disagrees names its item.",
    "The planner speaks of a GPU of the last stage, the simulation of an average one: what the last stage alone "
    "computes is bubble to the others.",
)


def beside(step: PublishedStep, found: SimulatedStep) -> Row:
    stack = "megatron-2022" if step.source == KORTHIKANTI else "megatron-2021"
    rows = items(planned(step.model, step.grid, step.chunks, step.micro_batches, stack), found)
    most = max(rows, key=lambda one: abs(one.difference))
    return {
        "step": step.name,
        "published [s]": step.seconds,
        "simulated [s]": found.time,
        "planned [s]": sum(one.planned for one in rows),
        **{f"{NAMES[one.name]} [s]": one.difference for one in rows if one.name not in ("cp", "ep")},
        "most in": NAMES[most.name],
    }


MIXED = (
    "Nothing is published to hold these against: two models of one step. Each item as planned / simulated, in seconds.",
    "Both take experts to be evenly loaded: the simulation has so many places for each, the planner so many rows.",
)


def mixtures(size: Size) -> list[MixtureStep]:
    return [step for step in mixture_steps.steps() if step.grid.pp <= MOST_STAGES[size]]


def mixture(step: MixtureStep) -> Row:
    found = simulate_step(step.model, step.grid, step.chunks, step.micro_batches, on=MACHINE)
    rows = items(planned(step.model, step.grid, step.chunks, step.micro_batches, mixture_steps.STACK), found)
    most = max(rows, key=lambda one: abs(one.difference))
    return {
        "step": step.name,
        "GPUs": step.grid.ranks,
        "simulated [s]": found.time,
        "planned [s]": sum(one.planned for one in rows),
        **{NAMES[one.name]: f"{one.planned:.2f} / {one.simulated:.2f}" for one in rows if one.name != "cp"},
        "most in": NAMES[most.name],
        "memory [GB]": max(found.peak_memory) / 1e9,
    }


def is_gpt_3(step: PublishedStep) -> bool:
    return step.source == KORTHIKANTI and step.grid.ranks == 64


def simulated_here(step: PublishedStep) -> tuple[SimulatedStep, float]:
    """And the seconds that it took."""
    begin = time.monotonic()
    found = simulate_step(step.model, step.grid, step.chunks, step.micro_batches, on=MACHINE)
    return found, time.monotonic() - begin


def row(step: PublishedStep, found: SimulatedStep, host: float) -> Row:
    """``host``: seconds that the simulation took here."""
    sequences = step.micro_batches * step.grid.micro_batch * step.grid.dp
    peak = max(found.peak_memory)
    return {
        "step": step.name,
        "of": "Korthikanti" if step.source == KORTHIKANTI else "SC21",
        "GPUs": step.grid.ranks,
        "published [s]": step.seconds,
        "simulated [s]": found.time,
        "differs by [%]": 100 * (found.time / step.seconds - 1),
        "MFU [%]": 100 * model_flops(step.model, sequences) / step.grid.ranks / found.time / 312e12,
        "computing [%]": 100 * found.parts["compute"] / found.time,
        "tp [%]": 100 * found.parts["tp"] / found.time,
        "dp [%]": 100 * found.parts["dp"] / found.time,
        "pp [%]": 100 * found.parts["pp"] / found.time,
        "bubble [%]": 100 * found.parts["bubble"] / found.time,
        "memory [GB]": peak / 1e9,
        "by formulas [GB]": formula_memory(step) / 1e9,
        "host [s]": host,
    }


def formula_memory(step: PublishedStep) -> float:
    """Bytes of a rank of the first stage: states and activations. Interleaving keeps 1 + (p-1)/(p·v) times as many
    (arXiv:2205.05198, section 4.2.3); the embedding's dropout keeps a mask, and a stage that is the last one, too, the
    input of the scores and these in float32 (section 4.3); with full recomputation one layer at work is added."""
    model, grid = step.model, step.grid
    L, h, T, p, v = model.layers, model.hidden, model.seq, grid.pp, step.chunks
    parameters = (12 * L * h * h / p + (model.vocab + T * grid.tp) * h) / grid.tp
    sizes = (grid.micro_batch, T, h, model.heads, grid.tp, grid.sequence_parallel)
    again = "" if grid.recompute == "none" else grid.recompute
    in_flight = min(p, step.micro_batches) / p * (1 + (p - 1) / (p * v) if v > 1 else 1)
    activations = L * in_flight * published_activations(*sizes, again=again)
    at_work = published_activations(*sizes) if grid.recompute == "full" else 0.0
    numbers, cut = grid.micro_batch * T * h, grid.tp if grid.sequence_parallel else 1
    ends = min(p, step.micro_batches) * numbers / cut + (p == 1) * 4 * numbers * (1 + model.vocab / h) / grid.tp
    return BYTES_OF_STATES * parameters + activations + ends + at_work
