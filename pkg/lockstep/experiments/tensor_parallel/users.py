"""Which models profit from tensor parallelism: what it and data parallelism send for a layer, by formula.

    weights    numbers of a layer's weights that are cut; a ring all-reduces their gradients in data parallelism
    crossing   numbers for each example that are all-reduced in tensor parallelism, forward and backward together

A Transformer's block has 12·h² weights, and 4·T·h numbers cross for each example, whatever the mask of its attention:
GPT, BERT and ViT have the same block (``cost.tensor_parallel``). With 3·h tokens in the batch both send as much.

A ResNet's bottleneck (He et al., arXiv:1512.03385, table 1) is cut as ``conv`` cuts: its 3 x 3 convolution by filters,
the 1 x 1 behind it by channels. Then 4·m channels cross forward and m channels backward, at each place; 9·m² + 4·m²
weights are cut. Its pictures are large where its weights are few.

Sizes: GPT-3, arXiv:2005.14165, table 2.1. BERT-large, arXiv:1810.04805. ViT-L/16 on pictures of 224 x 224, 197 tokens,
arXiv:2010.11929. ResNet-50, table 1. A batch of a GPU: 256 pictures for ResNet-50 (unit 05); for the others none is
assumed.
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.cost.training import RECIPES, training_memory
from lockstep.tables import Table

CARD = 80e9  # bytes of an A100


class Layers(NamedTuple):
    """Of a model: its parameters; of all layers that are cut, ``weights`` and ``crossing``; and what an example is."""

    name: str
    parameters: int
    weights: int
    crossing: int
    example: str

    @property
    def equal(self) -> float:
        """Examples in the batch from which on data parallelism sends less."""
        return self.weights / self.crossing

    @property
    def states(self) -> float:
        """Bytes of parameters, gradients and Adam, in mixed precision."""
        return training_memory(self.parameters, RECIPES["adam mixed"])


def transformer(name: str, parameters: int, layers: int, h: int, T: int, example: str) -> Layers:
    return Layers(name, parameters, layers * 12 * h * h, layers * 4 * T * h, example)


def resnet_50() -> Layers:
    """Bottlenecks of m channels inside, on so many places: (how many, m, height and width)."""
    stages = ((3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7))
    weights = sum(n * 13 * m * m for n, m, _ in stages)
    crossing = sum(n * 5 * m * side * side for n, m, side in stages)
    return Layers("ResNet-50", 25_600_000, weights, crossing, "pictures")


MODELS = (
    transformer("GPT-3", 175 * 10**9, 96, 12288, 2048, "texts of 2,048 tokens"),
    transformer("BERT-large", 340_000_000, 24, 1024, 512, "texts of 512 tokens"),
    transformer("ViT-L/16", 307_000_000, 24, 1024, 197, "pictures of 197 tokens"),
    resnet_50(),
)


def users_table() -> Table:
    rows = [
        [m.name, told_bytes(m.states), f"{m.weights / 1e6:,.0f}", f"{m.crossing / 1e6:,.3g}",
         f"{m.equal:,.1f} {m.example}"]
        for m in MODELS
    ]  # fmt: skip
    head = ["", "model states", "millions of weights that are cut", "millions that cross, for an example"]
    head.append("data parallelism sends less from")
    return Table("What tensor parallelism sends, and data parallelism: by formula", head, rows)


def told_bytes(nbytes: float) -> str:
    return f"{nbytes / 1e12:.2g} TB" if nbytes >= 1e12 else f"{nbytes / 1e9:.2g} GB"
