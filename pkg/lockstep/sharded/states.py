"""The model states that ranks held in small runs under each of ZeRO's stages, as they stand in the course's file.

What is here needs no run: ``small_runs`` makes them, and ``show.memory_stacks`` draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lockstep.tables import published

RANKS = (1, 2, 3, 4, 8, 16, 64)
NUMBERS = 136_960  # of GPT()
SIZES = (20_480, 49_984, 49_984, 16_512)  # of its layers
FILE = "states.csv"
PROVENANCE = """\
# Bytes on rank 0 between backward pass and step: a GPT of 136,960 parameters, mixed precision with Adam, 1 x 8 tokens;
# and the bytes that a ring makes it send in a step.
# provenance: simulated, on the virtual cluster; python -m lockstep.experiments.fsdp.small_runs computes this file anew.
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


def recorded() -> list[Held]:
    """The runs for each of STAGES on each of RANKS, as they stand in the course's file."""
    return [Held(*(int(row[field]) for field in Held._fields)) for row in published("sharded", FILE)]


def written(runs: Sequence[Held]) -> str:
    """The course's file with these runs in it."""
    lines = [",".join(map(str, one)) for one in runs]
    return "\n".join([PROVENANCE + ",".join(Held._fields), *lines, ""])
