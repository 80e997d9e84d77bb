"""Horovod's scaling efficiency, as published, and why one model scaled worse: the bytes that it sends per operation.

Efficiencies: Sergeev and Del Balso, Horovod, 2018 (arXiv:1802.05799), and Horovod's documentation of its benchmarks;
``data/horovod_scaling.csv`` gives the place of each. Layers of VGG-16: Simonyan and Zisserman, 2015
(arXiv:1409.1556), configuration D. The other models' parameters and multiplications for one image: torchvision's
documentation of its weights ("num_params", "GFLOPS", which are multiply-adds there).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from lockstep.tables import Table, published

STAGES = ((3, 64, 64), (64, 128, 128), (128, 256, 256, 256), (256, 512, 512, 512), (512, 512, 512, 512))
DENSE = (512 * 7 * 7, 4096, 4096, 1000)
IMAGE, KERNEL, FLOAT32 = 224, 3 * 3, 4
TORCHVISION = {"Inception V3": (27_161_264, 5.71e9), "ResNet-101": (44_549_160, 7.80e9)}


class Layer(NamedTuple):
    """A layer of VGG-16. ``multiplications``: multiply-adds of the forward pass of one image."""

    name: str
    parameters: int
    multiplications: int


def vgg16() -> list[Layer]:
    """The 13 convolutions and 3 dense layers of VGG-16. After each stage, pooling halves width and height."""
    found = []
    for stage, channels in enumerate(STAGES):
        pixels = (IMAGE >> stage) ** 2
        for n, (before, after) in enumerate(pairwise(channels)):
            weights = KERNEL * before * after
            found.append(Layer(f"conv{stage + 1}_{n + 1}", weights + after, weights * pixels))
    for n, (before, after) in enumerate(pairwise(DENSE)):
        found.append(Layer(f"dense{n + 1}", before * after + after, before * after))
    return found


def largest(layers: list[Layer]) -> tuple[float, float]:
    """The layer with the most parameters: its share of all parameters and of all multiplications, in percent."""
    most = max(layers, key=lambda layer: layer.parameters)
    parameters = sum(layer.parameters for layer in layers)
    multiplications = sum(layer.multiplications for layer in layers)
    return 100 * most.parameters / parameters, 100 * most.multiplications / multiplications


def scaling_table() -> Table:
    """The published efficiencies, next to each model's ratio of bytes sent to multiplications."""
    layers = vgg16()
    sizes = {**TORCHVISION, "VGG-16": (sum(x.parameters for x in layers), sum(x.multiplications for x in layers))}
    rows = []
    for row in published("experiments/horovod", "horovod_scaling.csv"):
        parameters, multiplications = sizes[row["model"]]
        rows.append([
            row["model"], row["gpus"], row["network"], f"{100 * float(row['scaling_efficiency']):.0f} %",
            f"{FLOAT32 * parameters / 1e6:.0f} MB", f"{multiplications / 1e9:.1f}",
            f"{1e3 * FLOAT32 * parameters / multiplications:.0f}",
        ])  # fmt: skip
    head = [
        "model",
        "GPUs",
        "network",
        "efficiency",
        "gradient",
        "10⁹ multiply-adds an image",
        "bytes per 1,000 of them",
    ]
    return Table("Published: Horovod on P100 GPUs, 4 in a server (arXiv:1802.05799 and its documentation)", head, rows)
