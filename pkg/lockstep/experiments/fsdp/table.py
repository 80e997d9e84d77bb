"""ZeRO's Table 1, published, by a formula and from traces; and the lecture notes' claims about FSDP, checked.

Traces are of a small GPT (``sharded.model_states``), whose bytes a parameter are multiplied by the parameters of the
model. The bytes of a parameter do not depend on how many there are: so a small run stands for 7.5 billion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import torch

from lockstep.cost.sharding import MIXED, STAGES, bytes_a_parameter
from lockstep.cost.training import RECIPES, training_memory
from lockstep.models import mlp
from lockstep.residency import peak_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.model_states import NUMBERS, Held, recorded
from lockstep.tables import Table, published
from lockstep.worlds import run

MODELS = {"7.5B": 7.5e9, "128B": 128e9, "1T": 1e12}  # parameters
CELLS = ("Pos_GB", "Pos_g_GB", "Pos_g_p_GB")  # of stages 1, 2, 3
K = 4  # ranks of the runs that the notes' table counts
GPT_3, CARD = 175 * 10**9, 80e9

BytesAParameter = Callable[[int, int], float]


def by_trace() -> dict[tuple[int, int], float]:
    """Bytes a parameter from the recorded runs, by (stage, ranks)."""
    return {(one.stage, one.ranks): one.states / NUMBERS for one in recorded()}


def table_1(line: BytesAParameter = bytes_a_parameter, models: Collection[str] = tuple(MODELS)) -> Table:
    """GB a device of the model states of ``models``: as published, and by ``line(stage, ranks)`` bytes a parameter; and
    how far the traces are from the latter, at most, of the three stages."""
    traced, rows = by_trace(), []
    for row in published("experiments/fsdp", "zero_table1_memory.csv"):
        if row["model"] not in models:
            continue
        ranks, giga = int(row["Nd"]), MODELS[row["model"]] / 1e9
        cells, apart = [row["model"], row["Nd"]], list[float]()
        for stage, cell in enumerate(CELLS, start=1):
            each = line(stage, ranks)
            cells += [row[cell], _gb(each * giga)]
            apart += [abs(each / traced[stage, ranks] - 1)] if (stage, ranks) in traced else []
        rows.append([*cells, f"{100 * max(apart):.3g} %" if apart else "not run"])
    columns = [told for name in ("Pos", "Pos+g", "Pos+g+p") for told in (name, "by the line")]
    caption = "ZeRO's Table 1: GB a device, published and by the line; and traces of a small GPT beside it"
    return Table(caption, ["model", "ranks", *columns, "traces differ by"], rows)


def _gb(value: float) -> str:
    """Four digits: 41.25, 0.4688, 16000."""
    return f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


# ---- the notes


def notes_table() -> Table:
    """What the notes say of data parallelism's limits and of FSDP, in their words; our count; and why."""
    held = {one.stage: one for one in recorded() if one.ranks == K}
    whole, cut = _each(held[0]), _each(held[3])
    traffic = {stage: held[stage].sent / 2 / NUMBERS for stage in STAGES}  # 2 bytes a number
    saved = sum(whole) - sum(cut)
    one, two = (wrapped(units) for units in (1, 2))
    rows = [
        ("Data parallelism", "Memory inefficiency (each GPU stores the full model)",
         f"{sum(whole):g} bytes a parameter", f"Right, and most of it is the optimizer's: {whole[0]:g} bytes are "
         f"parameters, {whole[1]:g} gradients, {whole[2]:g} its state."),
        ("", "Slow communication overhead (synchronizing gradients across GPUs)",
         f"{traffic[0]:g}Ψ numbers sent", "So it is with torch.nn.DataParallel, which they name: unit 05. In a ring "
         "it is at most 2Ψ with any number of ranks, and the backward pass can hide it."),
        ("FSDP", "shards both model parameters and gradients across GPUs, unlike traditional Data Parallelism, which "
         "keeps full copies.",
         f"{cut[0]:g} + {cut[1]:g} + {cut[2]:g} bytes", "And the optimizer state, its largest share: "
         f"{whole[2] - cut[2]:g} of the {saved:g} bytes that it saves."),
        ("", "Lower Memory Usage - Each GPU stores only a part of the model.",
         f"{sum(cut):g} bytes", "Right between steps. A unit that computes is whole."),
        ("", "Scalability - Trains LLMs like GPT-3, LLaMA on multiple GPUs.",
         f"GPT-3: {training_memory(GPT_3, RECIPES['adam mixed']) / 1e12:g} TB of states",
         f"Right: {fits(GPT_3, CARD)} cards of {CARD / 1e9:g} GB hold them; activations come on top."),
        ("", "Gradient Communication Efficiency - Reduces sync time.",
         f"{traffic[3]:g}Ψ numbers sent: {traffic[3] / traffic[0]:g} times", "Right of the gradients alone: half an "
         "all-reduce. But parameters are gathered for both passes. (All dtypes are equal here. Gathered in bfloat16 "
         "and reduced in float32, FSDP sends the bytes of float32 DDP.) What it saves is memory."),
        ("the sample", "model = FSDP(model, …)",
         f"{100 * one:.0f} % of the model whole at once; in two units, without prefetching, {100 * two:.0f} %",
         "Without a wrap policy, the whole model is one unit: at its peak each GPU stores all of it again."),
    ]  # fmt: skip
    head = ["", "a common claim", f"we count, {K} ranks", "why"]
    return Table(
        "Common claims about FSDP, and our count (Ψ: the number of parameters)", head, [list(row) for row in rows]
    )


def _each(held: Held) -> tuple[float, float, float]:
    """Bytes a parameter: parameters, gradients, optimizer state."""
    return held.parameters / NUMBERS, held.gradients / NUMBERS, held.optimizer / NUMBERS


def fits(parameters: int, memory: float) -> int:
    """The fewest ranks on which stage 3 holds its model states in ``memory`` bytes each."""
    return -(-training_memory(parameters, MIXED) // int(memory))


def wrapped(units: int) -> float:
    """The largest share of the sample's parameters that is whole at once, in a step on K ranks: fc1 and fc2 as 1 unit,
    or as 2 without prefetch. (A sixteenth as wide as theirs.)"""
    shares: list[float] = list(run(_sample, units, ranks=K, on="dgx-a100").values)
    return max(shares)


def _sample(units: int) -> float:
    model = mlp([64, 256, 64])
    sharded = FullySharded(model, model if units > 1 else (), prefetch=False)
    at_rest = sum(shard.nbytes for shard in sharded.parameters())
    with peak_of(sharded) as memory:
        sharded(torch.ones(8, 64)).square().mean().backward()
        return (memory().peaks["parameters"] - at_rest) / (at_rest * K)
