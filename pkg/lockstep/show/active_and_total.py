"""active_and_total(): active and total parameters of mixtures of experts, as dots on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from lockstep.experts.models_table import MODELS, Model, short
from lockstep.show import palette, svg
from lockstep.show.figure import Picture

LEFT, RIGHT, TOP, ROW, DOT = 14.0, 518.0, 66.0, 38.0, 6.0
ACTIVE = palette.MEMORY["parameters"]
MOST = 1e13  # parameters at the right end


def active_and_total(models: Sequence[Model] = MODELS) -> Picture:
    """A row for each model: an empty dot at the number of all its parameters, which are in memory; a full one at the
    number of the active ones, with which a token is computed."""
    end = TOP + len(models) * ROW
    told = words(models)
    body = [
        svg.text(LEFT, 24, "Parameters of mixtures of experts", 14, font_weight=600),
        *_legend(),
        *_axis(end),
        *(part for n, model in enumerate(models) for part in _row(model, TOP + n * ROW)),
    ]
    return Picture(svg.document(svg.WIDTH, end + 50, "Active and total parameters", told, body), told)


def words(models: Sequence[Model]) -> str:
    told = [f"{m.name} ({m.year}): {short(m.active)} of {short(m.total)}" for m in models]
    return f"Parameters that a token meets, of all that there are. {'; '.join(told)}."


def _x(parameters: float) -> float:
    return LEFT + (RIGHT - LEFT) * math.log10(parameters) / math.log10(MOST)


def _legend() -> Iterator[str]:
    for x, is_total, told in ((LEFT + 6, True, "all: in memory"), (158.0, False, "active: a token meets them")):
        yield _dot(x, 44.0, is_total)
        yield svg.text(x + 14, 48.5, told)


def _axis(end: float) -> Iterator[str]:
    yield svg.faint(LEFT, end + 38, "Logarithmic: each line is 10 times the one before.")
    for power in range(14):
        x = _x(10.0**power)
        yield svg.line(x, TOP, x, end, stroke=palette.FAINT, stroke_opacity=0.3)
        if power % 3 == 0:
            yield svg.faint(x, end + 18, short(10.0**power), text_anchor="start" if power == 0 else "middle")


def _row(model: Model, y: float) -> Iterator[str]:
    told = f"{short(model.active)} of {short(model.total)}"
    name = svg.fitting(f"{model.name}, {model.year}", RIGHT - LEFT - 24 - svg.length(told, is_bold=True))
    look: dict[str, Any] = {"class_": "ls-ink ls-halo", "fill": palette.INK, **svg.HALO}
    yield svg.text(LEFT, y + 13, name, **look)
    yield svg.text(RIGHT, y + 13, told, text_anchor="end", font_weight=600, **look)
    middle, total, active = y + 26, _x(model.total), _x(model.active)
    between = svg.line(active, middle, total, middle, stroke_width=1.5)
    marks = (_dot(total, middle, True), _dot(active, middle, False))
    yield svg.element("g", svg.title(f"{model.name}: {told}"), between, *marks)


def _dot(x: float, y: float, is_total: bool) -> str:
    if is_total:
        return svg.element("circle", cx=x, cy=y, r=DOT, fill=palette.PAPER, stroke=palette.INK, stroke_width=1.5,
                           class_="ls-mark")  # fmt: skip
    return svg.element("circle", cx=x, cy=y, r=DOT - 1, fill=ACTIVE, stroke=palette.INK, class_="ls-line")
