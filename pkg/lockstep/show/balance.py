"""balance(): cuts of a model's layers into stages, and what the slowest stage of each makes the others wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from lockstep.pipeline.stage_partition import slowest
from lockstep.show import palette, quantities, svg
from lockstep.show.figure import Picture

LEFT, RIGHT, TOP = 74.0, 112.0, 18.0
ROW, GAP, HEAD = 22.0, 5.0, 26.0
LAYER = palette.ROLES["work"]


def balance(costs: Sequence[float], cuts: Mapping[str, Sequence[int]]) -> Picture:
    """``cuts``: a name, and how many layers each stage has. A lane for each stage, a block for each layer, as long as
    the layer computes; the slowest stage is marked."""
    most = max(slowest(costs, sizes) for sizes in cuts.values())
    body, y = list[str](), TOP
    for name, sizes in cuts.items():
        body += _cut(costs, sizes, f"{name}: a micro-batch every {slowest(costs, sizes):g}", most, y)
        y += HEAD + len(sizes) * (ROW + GAP) + 8
    return Picture(svg.document(svg.WIDTH, y, "Balance of stages", words(costs, cuts), body), words(costs, cuts))


def words(costs: Sequence[float], cuts: Mapping[str, Sequence[int]]) -> str:
    told = [
        f"{name}: {', '.join(f'{n:g}' for n in of_stages(costs, sizes))}; the slowest takes {slowest(costs, sizes):g}"
        for name, sizes in cuts.items()
    ]
    return f"What each stage costs, by where a model of {len(costs)} layers is cut. {'. '.join(told)}."


def of_stages(costs: Sequence[float], sizes: Sequence[int]) -> list[float]:
    return [sum(costs[a:b]) for a, b in pairwise([0, *accumulate(sizes)])]


def _cut(costs: Sequence[float], sizes: Sequence[int], head: str, most: float, y: float) -> Iterator[str]:
    yield svg.named(8, y, head, svg.WIDTH - 16)
    scale, worst = (svg.WIDTH - LEFT - RIGHT) / most, slowest(costs, sizes)
    for stage, (a, b) in enumerate(pairwise([0, *accumulate(sizes)])):
        top, x = y + HEAD - 14 + stage * (ROW + GAP), LEFT
        yield svg.text(8, top + 15, f"stage {stage}")
        yield svg.lane(LEFT, top, svg.WIDTH - LEFT - RIGHT, ROW)
        for cost in costs[a:b]:
            width = cost * scale
            yield svg.bar(x, top, max(0.5, width - 1), ROW, cost, rx=1.5, fill=LAYER)
            if width > svg.length(f"{cost:g}"):
                yield svg.text(x + width / 2, top + 15, f"{cost:g}", text_anchor="middle", fill=palette.text_on(LAYER))
            x += width
        total = sum(costs[a:b])
        yield svg.text(
            svg.WIDTH - RIGHT + 8, top + 15, quantities.plain(total) + (" ← slowest" if total == worst else "")
        )
