"""Trainings under FullySharded, each beside the same one on one rank. Under torchrun this file runs as it is:
torchrun --nproc-per-node 3 fully_sharded_program.py"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep import run
from lockstep.models import mlp, tied
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.hybrid import HybridSharded, node_groups

WIDTHS = [7, 5, 6, 3]  # 40 + 36 + 21 numbers: none of them divides by 3 and 8
WIDTH, EXAMPLES, STEPS, MICRO = 7, 72, 2, 3  # 72 examples: 3 equal micro-batches on up to 8 ranks


def network() -> nn.Sequential:
    return mlp(WIDTHS, dtype=torch.float64)


def autoencoder() -> nn.Module:
    return tied(WIDTH, dtype=torch.float64)


def a_unit_a_layer(**options: Any) -> FullySharded:
    model = network()
    return FullySharded(model, model, **options)


def a_unit_in_the_middle() -> FullySharded:
    model = network()
    return FullySharded(model, [model[2]])


def hybrid() -> FullySharded:
    """Two nodes if the ranks are even, else one."""
    K = dist.get_world_size()
    inside, across = node_groups(K // 2 if K % 2 == 0 else K)
    model = network()
    return HybridSharded(model, model, inside=inside, across=across)


TRAININGS: dict[str, tuple[Callable[[], FullySharded], Callable[[], nn.Module], int]] = {
    "one unit": (lambda: FullySharded(network()), network, MICRO),
    "a unit a layer": (a_unit_a_layer, network, MICRO),
    "one micro-batch": (a_unit_a_layer, network, 1),
    "layers built one by one": (lambda: FullySharded(layer for layer in network()), network, MICRO),
    "a unit in the middle": (a_unit_in_the_middle, network, MICRO),
    "without prefetch": (lambda: a_unit_a_layer(prefetch=False), network, 1),
    "whole after forward": (lambda: a_unit_a_layer(reshard_after_forward=False), network, MICRO),
    "a matrix used twice": (lambda: FullySharded(autoencoder()), autoencoder, 1),
    "hybrid": (hybrid, network, MICRO),
}


def differences() -> dict[str, float]:
    """Of each training on this rank, the largest difference of a gradient or a parameter from one rank's."""
    return {name: furthest(*training) for name, training in TRAININGS.items()}


def furthest(build: Callable[[], FullySharded], alone: Callable[[], nn.Module], micro: int) -> float:
    ours, serial = build(), alone()
    rank, K = dist.get_rank(), dist.get_world_size()
    train(ours, batch().chunk(K)[rank].chunk(micro))
    train(serial, [batch()])
    gradients, state = ours.full_gradients(), ours.full_state()
    pairs = [(gradients[name], p.grad) for name, p in serial.named_parameters()]
    pairs += [(state[name], p) for name, p in serial.named_parameters()]
    return max((a - b).abs().max().item() for a, b in pairs)


def train(model: nn.Module, parts: list[Tensor] | tuple[Tensor, ...]) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        for part in parts:
            (model(part).square().mean() / len(parts)).backward()
        optimizer.step()


def batch() -> Tensor:
    return torch.randn(EXAMPLES, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


if __name__ == "__main__":
    result = run(differences)
    if os.environ["RANK"] == "0":
        print("furthest", max(max(by_training.values()) for by_training in result.values))
    if dist.is_initialized():
        dist.destroy_process_group()
