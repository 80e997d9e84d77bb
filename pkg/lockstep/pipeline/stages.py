"""An MLP cut into places: each rank builds its own layers only, with the same parameters however the model is cut.

    widths = [64, 32, 32, 10]       three linear layers, 64 -> 32 -> 32 -> 10, with ReLU between them
    cuts(3, 2)                      [range(0, 2), range(2, 3)]: layers 0 and 1 at place 0, layer 2 at place 1

A layer's parameters depend only on the model's seed and the layer's index (``lockstep.models``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from lockstep.errors import UsageError
from lockstep.models import linear
from lockstep.pipeline.instructions import place


def cuts(layers: int, places: int) -> list[range]:
    """The consecutive layers of each place, split as evenly as possible: the first places get one more. Raises
    UsageError for more places than layers."""
    if not 1 <= places <= layers:
        raise UsageError(f"{layers} layers cannot stand at {places} places.", "A place has one layer or more.")
    each, more = divmod(layers, places)
    starts = [q * each + min(q, more) for q in range(places + 1)]
    return [range(a, b) for a, b in pairwise(starts)]


def chunk(widths: Sequence[int], layers: range, seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """The layers of one place, which map (n, widths[layers.start]) to (n, widths[layers.stop])."""
    modules: list[nn.Module] = []
    for index in layers:
        modules.append(linear(widths[index], widths[index + 1], seed, index, dtype))
        if index < len(widths) - 2:
            modules.append(nn.ReLU())
    return nn.Sequential(*modules)


def chunks_of_stage(
    widths: Sequence[int], stage: int, stages: int, chunks: int = 1, seed: int = 0, dtype: torch.dtype = torch.float32
) -> tuple[list[nn.Sequential], list[tuple[int, ...]]]:
    """The chunks of one stage, and the shape of one example of each chunk's input."""
    parts = cuts(len(widths) - 1, stages * chunks)
    mine = [parts[place(c, stage, stages)] for c in range(chunks)]
    return [chunk(widths, part, seed, dtype) for part in mine], [(widths[part.start],) for part in mine]
