"""The model states of a rank under each ZeRO stage, measured: a small GPT in mixed precision, on the virtual cluster.

    forward, backward │ held: parameters, gradients, optimizer state │ step

Between backward pass and step nothing is gathered or in flight: what is alive are the model states and the batch. The
second step is measured, since only after the first is an optimizer's state recognised as such. Stages 0 to 2 are
``Zero``, stage 3 is ``FullySharded`` with a unit a layer.

``python -m lockstep.experiments.fsdp.small_runs`` prints the course's file of them anew, in a minute or two.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lockstep.cost.sharding import STAGES
from lockstep.datasets import library_text, text_batch
from lockstep.events import Memory
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.models import GPT, gpt_layers, next_token_loss
from lockstep.residency import peak_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.mixed_precision import MixedAdam
from lockstep.sharded.model_states import RANKS, Held, written
from lockstep.sharded.zero import Zero
from lockstep.worlds import run

STEPS = 2
HALF = torch.bfloat16


def train(x: Tensor, y: Tensor, stage: int, steps: int = STEPS) -> Memory:
    """On a rank: train, and return its memory between the last backward pass and the last step."""
    zero, step, model = _made(stage)
    for _ in range(steps):
        zero()
        next_token_loss(model(x).float(), y).backward()  # type: ignore[no-untyped-call]
        with peak_of() as memory:
            held = memory()
        step()
    return held


def _made(stage: int) -> tuple[Any, Any, torch.nn.Module]:
    if stage == 3:
        sharded = FullySharded(gpt_layers(dtype=HALF))
        adam = MixedAdam(sharded.parameters())
        return adam.zero_grad, adam.step, sharded
    zero = Zero(GPT(dtype=HALF), MixedAdam, stage)
    return zero.zero_grad, zero.step, zero


def held(stage: int, ranks: int) -> Held:
    """One run. Its bytes do not depend on the machine that is simulated."""
    x, y = text_batch(library_text(10_000), examples=1, context=8)
    result = run(train, x, y, stage, ranks=ranks, on="dgx-a100", timeout=600)
    at = result.values[0].at_peak
    kinds = (at["parameters"], at["gradients"], at["optimizer state"], at["activations"] + at["buffers"])
    return Held(stage, ranks, *kinds, round(through_a_port(result.trace) / STEPS))


if __name__ == "__main__":
    print(written([held(stage, ranks) for stage in STAGES for ranks in RANKS]), end="")
