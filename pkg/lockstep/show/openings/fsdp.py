"""Three layers in shards on four ranks, while the second one computes: what each rank holds, to scale."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, arrow, box, card, heads, key

RANKS, LAYERS, COMPUTES, LEFT = 4, 3, 1, 84.0
PITCH = (svg.WIDTH - LEFT - EDGE) / RANKS
WHOLE, TALL = PITCH - 20, 26.0  # pixels: a whole layer
SHARD, BORROWED = palette.MEMORY["parameters"], palette.COLOURS["recv"]
TOLD = (
    "Three layers on four ranks, to scale. Each rank keeps a quarter of each layer. Layer 1 is about to compute: its "
    "quarters are gathered, so that it is whole on every rank. After that, each rank lets go of what it has borrowed."
)


def draw() -> str:
    entries = ((SHARD, "a rank's own shard"), (BORROWED, "borrowed while the layer computes"))
    body = [
        *heads((f"rank {rank}" for rank in range(RANKS)), LEFT, PITCH, 48),
        *(part for layer in range(LAYERS) for part in _layer(layer)),
        *key(entries, EDGE, 196),
    ]
    return card(210, "Gather, compute, let go", TOLD, body)


def _layer(layer: int) -> Iterator[str]:
    y = 58 + 42 * layer
    yield svg.text(EDGE, y + 17, f"layer {layer}")
    for rank in range(RANKS):
        x = LEFT + PITCH * rank + 10
        yield box(x, y, WHOLE, TALL, fill="none", stroke=palette.FAINT, stroke_dasharray="3 2")
        for shard in range(RANKS):
            if shard == rank or layer == COMPUTES:
                place = x + WHOLE / RANKS * shard
                yield box(place, y, WHOLE / RANKS - 1, TALL, fill=SHARD if shard == rank else BORROWED)
        if layer == COMPUTES and rank < RANKS - 1:
            yield arrow(x + WHOLE + 2, y + 9, x + PITCH - 2, y + 9)
            yield arrow(x + PITCH - 2, y + 18, x + WHOLE + 2, y + 18)
