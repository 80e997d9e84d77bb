"""PipeDream's partitioner applied: VGG-16, profiled on a simulated V100 and planned for slower and faster networks.

The paper's plan for 16 V100s and 10 Gbit/s is "15-1": the convolutions on 15 workers, the dense layers on one
(Narayanan et al., SOSP 2019, Table 1; there four GPUs share a machine, here all links are alike). Layers: Simonyan and
Zisserman, arXiv:1409.1556, column D.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from torch import nn

from lockstep.experiments.pipeline.layer_profile import profile
from lockstep.pipeline.stage_partition import Layer, Stage, pipedream_partition, seconds
from lockstep.tables import Table
from lockstep.worlds import run

CHANNELS = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)  # 0: a pooling layer
MINIBATCH, SIDE, CLASSES = 64, 224, 1000
ETHERNET = 1.25e9  # bytes/s: 10 Gbit/s


def vgg_16() -> list[nn.Module]:
    """The 21 layers of VGG-16; each ReLU belongs to the layer before it."""
    layers, before = list[nn.Module](), 3
    for channels in CHANNELS:
        if not channels:
            layers.append(nn.MaxPool2d(2))
            continue
        layers.append(nn.Sequential(nn.Conv2d(before, channels, 3, padding=1), nn.ReLU()))
        before = channels
    layers.append(nn.Sequential(nn.Flatten(), nn.Linear(512 * 7 * 7, 4096), nn.ReLU()))
    return [*layers, nn.Sequential(nn.Linear(4096, 4096), nn.ReLU()), nn.Linear(4096, CLASSES)]


def of_vgg_16() -> list[Layer]:
    """Runs on a rank: the profile of VGG-16."""
    return profile(vgg_16(), torch.ones(MINIBATCH, 3, SIDE, SIDE), repeats=1)


@cache
def profiled() -> list[Layer]:
    found: list[Layer] = run(of_vgg_16, ranks=1, on="dgx-v100", fake=True).values[0]
    return found


def plans_table(workers: int = 16, bandwidths: Sequence[float] = (ETHERNET / 4, ETHERNET, 10 * ETHERNET)) -> Table:
    """The fastest plan for each network, compared with data parallelism on as many workers."""
    layers, rows = profiled(), list[list[str]]()
    whole = (Stage(0, len(layers) - 1, workers),)
    for bandwidth in bandwidths:
        plan = pipedream_partition(layers, workers, bandwidth)
        told = ", ".join(f"layers {s.first} to {s.last} on {s.workers}" for s in plan.stages)
        data = seconds(layers, whole, bandwidth)
        rows.append(
            [f"{8 * bandwidth / 1e9:g} Gbit/s", plan.name, told, f"{plan.seconds * 1e3:.1f} ms", f"{data * 1e3:.1f} ms"]
        )
    head = ["network", "plan", "stages", "a minibatch", "data parallelism"]
    return Table(f"VGG-16 on {workers} workers, from its profile on a simulated V100", head, rows)
