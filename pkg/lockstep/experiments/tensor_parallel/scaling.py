"""Megatron-LM's weak scaling within a node of A100s: published, and simulated on the virtual cluster without fitting.

    K ranks train a model about K times as large, each with the same 16 x 1,024 tokens: 1.2 billion parameters on one,
    8.7 on eight. If all-reduces cost nothing, and small products computed as fast as large ones, a GPU's FLOP/s would
    stay the same.

The simulation is of a step of one layer, since all are alike; the published step has an embedding, a loss and an
optimizer, too. So absolute numbers are too high here (a roofline has no kernels), and what is compared is the share of
them that is left at K ranks.
Source: NVIDIA/Megatron-LM, 152aab304d, ``images/tables.tex`` at its parent. Heads are 128 wide (an assumption).
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.tensor_parallel.across_nodes import Size, spent

TOKENS = (16, 1024)
HEAD = 128


class Scaled(NamedTuple):
    """TFLOP/s of a GPU on K ranks, and how many of a hundred are left of one rank's."""

    K: int
    parameters: float  # billions
    published: float
    simulated: float
    percent: float
    simulated_percent: float


def weak_scaling() -> list[Scaled]:
    found: list[Scaled] = []
    for row in counted(
        published("experiments/tensor_parallel", "megatron_a100_weak_scaling.csv"), "Simulating", each=1.5
    ):
        K, h = int(row["model_parallel"]), int(row["hidden"])
        rate = flops(h) / K / spent(K, K, Size(*TOKENS, h, h // HEAD)).seconds / 1e12
        percent = 100 * rate / (found[0].simulated if found else rate)
        found.append(
            Scaled(K, float(row["params_B"]), float(row["tflops_per_gpu"]), rate, float(row["scaling_pct"]), percent)
        )
    return found


def flops(h: int) -> int:
    """Of one layer and step: 6 for each weight and token, and attention's two products, three times over."""
    b, T = TOKENS
    return b * T * (6 * 12 * h * h + 3 * 2 * 2 * T * h)


def weak_scaling_table() -> Table:
    rows = [
        [str(s.K), f"{s.parameters:g}", f"{s.published:.0f}", f"{s.simulated:.0f}", f"{s.percent:.0f} %",
         f"{s.simulated_percent:.0f} %", f"{s.simulated_percent / s.percent - 1:+.0%}"]
        for s in weak_scaling()
    ]  # fmt: skip
    head = ["ranks", "billions", "TFLOP/s, published", "simulated", "of one rank, published", "simulated", "differs by"]
    return Table("Tensor parallelism within a node of A100: a model grows with the ranks", head, rows)
