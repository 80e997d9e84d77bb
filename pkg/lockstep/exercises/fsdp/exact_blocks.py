"""Modules of torch without numbers, and their parameters in shards: whole numbers, so that gradients are exact."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lockstep.sharded.flat import shard_length, shard_of
from lockstep.sharded.overlapped_backward import with_parameters

WIDTH, NARROWEST, SPREAD = 32, 96, 6  # of what goes in and out; of the middle


class Block(nn.Module):
    """x + relu(x·Upᵀ + b)·Downᵀ + c, with ``hidden`` numbers in the middle."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, hidden), nn.Linear(hidden, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.down(self.up(x).relu())
        return out


class Blocks(NamedTuple):
    """``blocks`` are on the "meta" device; ``flats[i]`` (N,) are the parameters of block i."""

    blocks: list[nn.Module]
    flats: list[Tensor]

    @classmethod
    def drawn(cls, count: int, seed: int) -> Blocks:
        """Blocks of which no two are equally large. A single one has two numbers, fewer than three ranks."""
        generator, hidden = torch.Generator().manual_seed(seed), Random(seed).sample(range(SPREAD), min(count, SPREAD))
        blocks = list[nn.Module]()
        with torch.device("meta"):
            blocks += [Block(NARROWEST + more) for more in hidden] if count > 1 else [nn.Linear(1, 1)]
        flats = [torch.cat([_drawn(p, generator) for p in block.parameters()]) for block in blocks]
        if (
            count > 1
        ):  # a bias that bfloat16 cannot hold, in the last block: there it changes gradients, and stays exact
            flats[-1][next(blocks[-1].parameters()).numel()] = 257.0
        return cls(blocks, flats)

    @property
    def width(self) -> int:
        """Numbers that go into each block, and come out of it, for an example."""
        return WIDTH if len(self.blocks) > 1 else 1

    def shards(self, r: int, K: int) -> list[Tensor]:
        return [shard_of(flat, r, K) for flat in self.flats]

    def numels(self) -> list[int]:
        return [len(flat) for flat in self.flats]

    def nbytes(self, K: int) -> list[int]:
        """Of each block's whole vector, padding included."""
        return [4 * K * shard_length(N, K) for N in self.numels()]

    def flops(self, examples: int) -> list[int]:
        """Of each block's forward and backward pass: three products for each matrix."""
        return [6 * examples * sum(p.numel() for p in block.parameters() if p.dim() == 2) for block in self.blocks]

    def inputs(self, x: Tensor) -> list[Tensor]:
        """What goes into each block, and what comes out of the last one."""
        found = [x]
        for block, flat in zip(self.blocks, self.flats, strict=True):
            found.append(with_parameters(block, flat, found[-1]))
        return found

    def gradients(self, x: Tensor, flowing: Tensor) -> list[Tensor]:
        """Of one rank's rows, (N,) for each block."""
        flats = [flat.detach().requires_grad_() for flat in self.flats]
        out = Blocks(self.blocks, flats).inputs(x)[-1]
        return list(torch.autograd.grad(out, flats, flowing))


def _drawn(p: nn.Parameter, generator: torch.Generator) -> Tensor:
    """-1, 0 and 1: of a matrix about two in each row are not 0, so that numbers stay small."""
    signs = torch.randint(0, 2, p.shape, generator=generator) * 2 - 1
    there = torch.rand(p.shape, generator=generator) < (min(1.0, 2 / p.shape[-1]) if p.dim() == 2 else 0.5)
    return (signs * there).float().flatten()
