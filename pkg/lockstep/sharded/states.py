"""What a rank really holds under each of ZeRO's stages: a small GPT in mixed precision, on the virtual cluster.

    forward, backward │ held: parameters, gradients, optimizer state │ step

Between backward pass and step nothing is gathered and nothing on its way: what is alive then are the model states, and
the batch. The second step is the one that is looked at, since an optimizer's state is known for that after the first.
Stages 0 to 2 are ``Zero``, stage 3 is ``FullySharded`` with a unit a layer.

``python -m lockstep.sharded.states`` prints the course's file anew, in a minute or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lockstep.cost.sharding import STAGES
from lockstep.datasets import library_text, text_batch
from lockstep.events import Memory
from lockstep.models import GPT, gpt_layers, next_token_loss
from lockstep.residency import peak_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.mixed import MixedAdam
from lockstep.sharded.port import through_a_port
from lockstep.sharded.zero import Zero
from lockstep.tables import published
from lockstep.worlds import run

RANKS = (1, 2, 3, 4, 8, 16, 64)
NUMBERS = 136_960  # of GPT()
SIZES = (20_480, 49_984, 49_984, 16_512)  # of its layers
STEPS = 2
HALF = torch.bfloat16
FILE = "states.csv"
PROVENANCE = """\
# Bytes on rank 0 between backward pass and step: a GPT of 136,960 parameters, mixed precision with Adam, 1 x 8 tokens;
# and the bytes that a ring makes it send in a step.
# provenance: simulated, on the virtual cluster; python -m lockstep.sharded.states computes this file anew.
"""


class Held(NamedTuple):
    """Bytes on rank 0. ``other``: the batch, and what the loss has left. ``sent``: in a step, if collectives go by
    rings."""

    stage: int
    ranks: int
    parameters: int
    gradients: int
    optimizer: int
    other: int
    sent: int

    @property
    def states(self) -> int:
        return self.parameters + self.gradients + self.optimizer


def train(x: Tensor, y: Tensor, stage: int, steps: int = STEPS) -> Memory:
    """Steps of one rank; what it held between the last backward pass and the last step."""
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


def recorded() -> list[Held]:
    """The runs for each of STAGES on each of RANKS, as they stand in the course's file."""
    return [Held(*(int(row[field]) for field in Held._fields)) for row in published("sharded", FILE)]


def written(runs: Sequence[Held]) -> str:
    """The course's file with these runs in it."""
    lines = [",".join(map(str, one)) for one in runs]
    return "\n".join([PROVENANCE + ",".join(Held._fields), *lines, ""])


if __name__ == "__main__":
    print(written([held(stage, ranks) for stage in STAGES for ranks in RANKS]), end="")
