"""Training steps that were published, to be simulated: sizes, grid and seconds of each, from the papers' tables.

    Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", arXiv:2205.05198, Tables 3, 5
    Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
    arXiv:2104.04473, Table 1: TFLOP/s of a GPU, by its equation 3, which counts the recomputation

All ran on DGX A100 with 80 GB, in float16, 2,048 tokens a sequence, a vocabulary of 51,200, dropout, and attention that
keeps its scores. Both leave the data-parallel sum behind the backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lockstep.cost.reached_devices import as_reached
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.machines import find
from lockstep.tables import published

SC21, KORTHIKANTI = "SC 2021, Table 1", "Korthikanti et al., Table 5"
MACHINE = as_reached(find("dgx-a100"))  # the same for all rows


class PublishedStep(NamedTuple):
    """``seconds``: as published, or from the published rate."""

    name: str
    source: str
    model: GPTSize
    grid: Grid
    chunks: int
    micro_batches: int
    seconds: float


def steps() -> list[PublishedStep]:
    return [*korthikanti(), *sc21()]


def korthikanti() -> Iterator[PublishedStep]:
    """Each row twice: all layers recomputed; and the core of attention only, with sequence parallelism."""
    for row in published("tensor_parallel", "korthikanti_table3_5_iteration_times.csv"):
        model = GPTSize(int(row["layers"]), int(row["hidden"]), int(row["heads"]))
        for column, recompute, sequence in (
            ("iter_s_full_recompute", "full", False),
            ("iter_s_seqpar_selective", "selective", True),
        ):
            if row[column]:
                yield step(
                    row, f"{row['model']} {recompute}", KORTHIKANTI, model, recompute, sequence, float(row[column])
                )


def sc21() -> Iterator[PublishedStep]:
    for row in published("planner", "megatron_sc21_table1.csv"):
        model = GPTSize(int(row["layers"]), int(row["hidden"]), int(row["heads"]))
        seconds = hardware_flops(model, int(row["global_batch"])) / (
            float(row["tflops_per_gpu"]) * 1e12 * int(row["gpus"])
        )
        row |= {"DP": row["DP_derived"], "interleave_m": row["virtual_stages_derived"]}
        yield step(row, f"{float(row['params_B']):g}B full", SC21, model, "full", False, seconds)


def step(
    row: dict[str, str], name: str, source: str, model: GPTSize, recompute: str, sequence: bool, seconds: float
) -> PublishedStep:
    dp, micro_batch = int(row["DP"]), int(row["micro_batch"])
    grid = Grid(
        dp=dp, tp=int(row["TP"]), pp=int(row["PP"]), micro_batch=micro_batch, recompute=recompute,
        sequence_parallel=sequence,
    )  # fmt: skip
    micro_batches = int(row["global_batch"]) // (dp * micro_batch)
    return PublishedStep(name, source, model, grid, int(row["interleave_m"]), micro_batches, seconds)


def model_flops(model: GPTSize, sequences: int) -> float:
    """FLOP of a step without any recomputation: Korthikanti et al., equation 7."""
    L, h, s, v = model.layers, model.hidden, model.seq, model.vocab
    return 72 * sequences * s * L * h**2 * (1 + s / (6 * h) + v / (12 * h * L))


def hardware_flops(model: GPTSize, sequences: int) -> float:
    """The same with all layers recomputed: SC 2021, equation 3."""
    L, h, s, v = model.layers, model.hidden, model.seq, model.vocab
    return 96 * sequences * s * L * h**2 * (1 + s / (6 * h) + v / (16 * L * h))
