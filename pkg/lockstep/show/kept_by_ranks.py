"""kept_by_ranks(): bytes that a rank keeps of a layer for the backward pass, with tensor and sequence parallelism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.show import palette, quantities, svg
from lockstep.show.figure import Picture
from lockstep.tensor_parallel.recorded import MANY, Kept, alike, kept

LEFT, RIGHT, TOP, BOTTOM = 70.0, 526.0, 84.0, 300.0
PITCH, BAR = (RIGHT - LEFT) / len(MANY), 44.0
ALIKE, PARTS = palette.ROLES["marked"], palette.ROLES["activations"]
NAME = "What a rank keeps of a layer"
WAYS = ("tensor", "sequence")


def kept_by_ranks() -> Picture:
    """The layer of the 22B model (Korthikanti et al.): stacks by the paper's formula, a line at what a run measured.
    Left of each pair tensor parallelism alone, right with sequence parallelism."""
    rows = kept()
    body = [
        svg.text(14, 26, "What a rank keeps of one layer of a 22-billion model", 14, font_weight=600),
        *_legend(),
        *_axis(max(row.formula for row in rows) * 1.08e6),
        *(part for i, K in enumerate(MANY) for part in _pair(i, [row for row in rows if row.K == K])),
    ]
    return Picture(svg.document(svg.WIDTH, BOTTOM + 62, NAME, words(rows), body), f"{NAME}. {words(rows)}")


def words(rows: Sequence[Kept]) -> str:
    told = [
        f"{quantities.count(K, 'rank')}: {of['tensor']:,.0f} MB, and {of['sequence']:,.0f} MB"
        for K in MANY
        for of in [{row.way: row.formula for row in rows if row.K == K}]
    ]
    apart = max(abs(row.traced / row.formula - 1) for row in rows)
    return (
        f"Tensor parallelism, and with sequence parallelism, by the formula. {'; '.join(told)}. Of the former, "
        f"{alike():,.0f} MB are alike on all ranks. Runs are within {apart:.1%}."
    )


def _legend() -> Iterator[str]:
    for x, name, colour in ((14.0, "alike on every rank", ALIKE), (170.0, "in parts", PARTS)):
        yield svg.element("rect", x=x, y=40.0, width=12.0, height=12.0, rx=2, fill=colour)
        yield svg.text(x + 18, 50.5, name)
    yield svg.line(258, 46, 282, 46, stroke_width=2)
    yield svg.text(288, 50.5, "by a run")
    yield svg.faint(14, 70, "Left: tensor parallelism. Right: with sequence parallelism.")


def _axis(top: float) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    for tick in quantities.ticks(0, top, 5):
        y = _y(tick / 1e6)
        yield svg.line(LEFT, y, RIGHT, y, stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 8, y + 4, quantities.nbytes(tick) if tick else "0", text_anchor="end")


def _y(megabytes: float) -> float:
    top = max(row.formula for row in kept()) * 1.08
    return BOTTOM - (BOTTOM - TOP) * megabytes / top


def _pair(place: int, rows: Sequence[Kept]) -> Iterator[str]:
    middle = LEFT + PITCH * (place + 0.5)
    yield svg.text(middle, BOTTOM + 40, quantities.count(rows[0].K, "rank"), text_anchor="middle", font_weight=600)
    for row in rows:
        x = middle - BAR - 3 if row.way == "tensor" else middle + 3
        below = alike() if row.way == "tensor" and row.K > 1 else 0.0
        for low, high, name, colour in ((0.0, below, "alike", ALIKE), (below, row.formula, "in parts", PARTS)):
            if high > low:
                told = svg.title(f"{row.way}, {quantities.count(row.K, 'rank')}: {high - low:,.0f} MB {name}")
                long = _y(low) - _y(high)
                yield svg.bar(x, _y(high), BAR, long, high - low, told, fill=colour, data_along="y")
        yield svg.line(x - 3, _y(row.traced), x + BAR + 3, _y(row.traced), stroke_width=2)
        yield svg.text(x + BAR / 2, BOTTOM + 18, f"{row.formula:,.0f}", text_anchor="middle")
