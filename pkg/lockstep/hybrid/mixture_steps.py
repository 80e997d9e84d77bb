"""Training steps of mixtures of experts, to be simulated beside the planner: as large as Mixtral 8x7B and DeepSeek-V3.

Nobody has published them on DGX A100: here two models of a step are compared, not either with a measurement. Sizes are
those of the planner's table (``planner.models``), as far as ``GPTSize`` has them. Every layer is a mixture; attention
is a GPT's, without groups and latents; no expert is shared. A gated expert's three matrices of width f are two of width
3·f/2 here: as many parameters and FLOPs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.planner import models

STACK = "fused"  # the planner's software: flash attention; gradients are summed under the backward pass


class MixtureStep(NamedTuple):
    name: str
    model: GPTSize
    grid: Grid
    chunks: int
    micro_batches: int


def steps() -> list[MixtureStep]:
    mixtral, deepseek = like("mixtral-8x7b", 32, 32), like("deepseek-v3", 64, 56)
    two = Grid(dp=16, tp=2, pp=2, zero=1, sequence_parallel=True, overlap=True)
    return [
        MixtureStep("Mixtral 8x7B, ep 8", mixtral, replace(two, ep=8), 1, 16),
        MixtureStep("Mixtral 8x7B, ep 2", mixtral, replace(two, ep=2), 1, 16),
        MixtureStep(
            "DeepSeek-V3, ep 64", deepseek, Grid(dp=64, pp=16, ep=64, zero=1, overlap=True, recompute="full"), 1, 32
        ),
    ]


def like(name: str, layers: int, heads: int) -> GPTSize:
    """A GPT with the width and the experts of one of the planner's models, without dropout, with flash attention."""
    of = models.find(name)
    return GPTSize(
        layers, of.hidden, heads, of.seq, of.vocab, 0.0, "flash", "bfloat16", of.experts, of.top_k,
        of.expert_ffn * 3 // 2 if of.gated else of.expert_ffn,
    )  # fmt: skip
