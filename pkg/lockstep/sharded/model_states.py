"""Model states (parameters, gradients, optimizer states) on rank 0 under each ZeRO stage, recorded in small runs.

Nothing here runs a training: ``experiments.fsdp.small_runs`` records the file, and ``show.memory_stacks`` draws it.
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
    """Bytes on rank 0. ``other``: the batch, and what the loss has left. ``sent``: in a step, with ring collectives."""

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
    """The runs of each stage on each of RANKS, read from the course's file."""
    return [Held(*(int(row[field]) for field in Held._fields)) for row in published("sharded", FILE)]


def written(runs: Sequence[Held]) -> str:
    """The text of the course's file for these runs."""
    lines = [",".join(map(str, one)) for one in runs]
    return "\n".join([PROVENANCE + ",".join(Held._fields), *lines, ""])
