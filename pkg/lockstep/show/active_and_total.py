"""active_and_total(): what a token meets of each mixture's parameters, and what has to be in memory; logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lockstep.experts.models_table import MODELS, Model, short
from lockstep.show import palette, svg
from lockstep.show.picture import Picture

LEFT, RIGHT, TOP, ROW, BAR = 14.0, 526.0, 62.0, 38.0, 13.0
TOTAL, ACTIVE = palette.COLOURS["recv"], palette.COLOURS["all_gather"]
MOST = 1e13  # parameters at the right end


def active_and_total(models: Sequence[Model] = MODELS) -> Picture:
    """A pale bar with a rim as long as all parameters, and a dark, narrower one in it as long as the active ones."""
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
    yield _bar(LEFT, 38.0, 26.0, TOTAL, True)
    yield svg.text(LEFT + 32, 48.5, "all: in memory")
    yield _bar(158.0, 38.0, 26.0, ACTIVE, False)
    yield svg.text(190, 48.5, "active: a token meets them")


def _axis(end: float) -> Iterator[str]:
    yield svg.faint(LEFT, end + 38, "Logarithmic: each line is 100 times the one before.")
    for power in range(0, 13, 2):
        x = _x(10.0**power)
        yield svg.line(x, TOP, x, end, stroke=palette.FAINT, stroke_opacity=0.3)
        yield svg.faint(x, end + 18, short(10.0**power), text_anchor="start" if power == 0 else "middle")


def _row(model: Model, y: float) -> Iterator[str]:
    yield svg.text(LEFT, y + 13, f"{model.name}, {model.year}", class_="ls-ink ls-halo", fill=palette.INK, **svg.HALO)
    told = f"{short(model.active)} of {short(model.total)}"
    yield svg.text(RIGHT, y + 13, told, text_anchor="end", class_="ls-ink ls-halo", fill=palette.INK, font_weight=600,
                   **svg.HALO)  # fmt: skip
    said = svg.title(f"{model.name}: {told}")
    top = y + 19
    yield svg.element("g", said, _bar(LEFT, top, _x(model.total) - LEFT, TOTAL, True),
                      _bar(LEFT, top, _x(model.active) - LEFT, ACTIVE, False))  # fmt: skip


def _bar(x: float, y: float, width: float, fill: str, is_total: bool) -> str:
    if is_total:
        rim = {"fill_opacity": 0.35, "stroke": palette.INK, "stroke_width": 1, "class_": "ls-line"}
        return svg.element("rect", x=x, y=y, width=max(1.0, width), height=BAR, fill=fill, **rim)
    return svg.element("rect", x=x, y=y + 3, width=max(1.0, width), height=BAR - 6, fill=fill)
