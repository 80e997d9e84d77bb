"""memory_stacks(): the model states on a rank by ZeRO's stage, by formula and in runs, with sliders for size and ranks.

The runs are those of a small GPT (``sharded.model_states``), whose bytes a parameter are taken times the parameters of
the model. The axis belongs to the model, so that a slider moves the stacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from lockstep.cost.sharding import MIXED, STAGES, States, model_states, sent
from lockstep.errors import UsageError
from lockstep.sharded.model_states import NUMBERS, RANKS, recorded
from lockstep.show import palette, quantities, svg
from lockstep.show.player import Player, Sheet, Slider

MODELS = {"1.5B": 1_500_000_000, "7.5B": 7_500_000_000, "70B": 70 * 10**9, "175B": 175 * 10**9, "1T": 10**12}
MANY = (*RANKS, 256, 1024)  # the last two without a run
CARD = 80 * 10**9  # bytes of an A100 or H100

WIDTH, HEIGHT = svg.WIDTH, 484.0
LEFT, RIGHT, TOP, BOTTOM = 70.0, 530.0, 92.0, 302.0
PITCH, BAR = (RIGHT - LEFT) / len(STAGES), 46.0
ROW, COLUMNS = 19.0, (34.0, 170.0, 380.0, 500.0)  # of the table below: kind, formula, and where two numbers end
NAMES = ("data parallel", "Pos", "Pos+g", "Pos+g+p, FSDP")
KINDS = ("parameters", "gradients", "optimizer state")
CUT = (3, 2, 1)  # the stage from which on each kind is cut
PALE = 0.35


@dataclass(frozen=True)
class Stacks:
    """What is shown: the model's name, K ranks, and the stage whose numbers the table lists."""

    model: str
    ranks: int
    stage: int

    @property
    def numbers(self) -> int:
        return MODELS[self.model]

    def predicted(self, stage: int) -> States:
        """Bytes, by the formula."""
        return model_states(self.numbers, self.ranks, stage, MIXED)

    def measured(self, stage: int) -> States | None:
        """Bytes, scaled from a run; None if there is none on so many ranks."""
        one = _runs().get((stage, self.ranks))
        if one is None:
            return None
        return States(*(round(nbytes * self.numbers / NUMBERS) for nbytes in one))


@cache
def _runs() -> dict[tuple[int, int], States]:
    return {(one.stage, one.ranks): States(one.parameters, one.gradients, one.optimizer) for one in recorded()}


class MemoryStacks(Player):
    """Every size, number of ranks and stage is drawn ahead. See ``memory_stacks``."""

    label = "Model states by stage"

    def __init__(self, at: Stacks) -> None:
        self.at = at
        super().__init__([draw(at)], [words(at)])

    def sliders(self) -> tuple[Slider, Slider, Slider]:
        at = self.at
        return (
            Slider("parameters", list(MODELS), list(MODELS).index(at.model)),
            Slider("ranks K", [f"{k:,}" for k in MANY], MANY.index(at.ranks)),
            Slider("stage", [str(stage) for stage in STAGES], at.stage),
        )

    def sheets(self) -> list[Sheet]:
        stops = [Stacks(*stop) for stop in product(MODELS, MANY, STAGES)]
        return [Sheet([draw(stop)], [words(stop)]) for stop in stops]


def memory_stacks(model: str = "7.5B", ranks: int = 4, stage: int = 3) -> MemoryStacks:
    """Parameters, gradients and optimizer state on each rank: mixed precision with Adam, 2 + 2 + 12 bytes a parameter.
    For each stage two stacks, by the formula and from a run. The sliders begin at these values.

    Raises UsageError for a setting that they do not have."""
    if model not in MODELS or ranks not in MANY or stage not in STAGES:
        raise UsageError(
            f"There are no stacks for {model} parameters on {ranks} ranks in stage {stage}.",
            f"Sizes: {', '.join(MODELS)}; ranks: {', '.join(map(str, MANY))}; stages: 0 to 3.",
        )
    return MemoryStacks(Stacks(model, ranks, stage))


# ---- the drawing


def draw(at: Stacks) -> str:
    top = at.predicted(0).total * 1.08
    body = [
        svg.text(14, 26, f"Model states on each of {quantities.count(at.ranks, 'rank')}: {at.model} parameters", 14,
                 font_weight=600),
        *_legend(at),
        *_axis(top),
        *(part for stage in STAGES for part in _group(at, stage, top)),
        *_card(top),
        *_table(at),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "Model states by ZeRO's stage", words(at), body)


def words(at: Stacks) -> str:
    """The figure for those who do not see it."""
    totals = ", ".join(quantities.nbytes(at.predicted(stage).total) for stage in STAGES)
    measured = at.measured(at.stage)
    run = "no run on so many ranks" if measured is None else f"{quantities.nbytes(measured.total)} by a run"
    kinds = zip(KINDS, at.predicted(at.stage), strict=True)
    told = ", ".join(f"{kind} {quantities.nbytes(nbytes)}" for kind, nbytes in kinds)
    total = quantities.nbytes(at.predicted(at.stage).total)
    return (
        f"{at.model} parameters on {quantities.count(at.ranks, 'rank')}. Stages 0 to 3 hold {totals} on each. "
        f"Stage {at.stage}: {told}; {total} by the formula, {run}."
    )


def _legend(at: Stacks) -> Iterator[str]:
    for x, kind in zip((14.0, 130.0, 236.0), KINDS, strict=True):
        yield svg.element("rect", x=x, y=40.0, width=12.0, height=12.0, rx=2, fill=palette.MEMORY[kind])
        yield svg.text(x + 18, 50.5, kind)
    told = "Left: by the formula. Right, framed: from a run of a small GPT, scaled."
    if at.measured(at.stage) is None:
        told = f"By the formula. On more than {RANKS[-1]} ranks nothing was run."
    yield svg.faint(14, 72, told)


def _axis(top: float) -> Iterator[str]:
    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    for tick in quantities.ticks(0, top, 5):
        y = _y(tick, top)
        yield svg.line(LEFT, y, RIGHT, y, stroke=palette.FAINT, stroke_opacity=0.25)
        yield svg.faint(LEFT - 8, y + 4, quantities.nbytes(tick) if tick else "0", text_anchor="end")


def _y(nbytes: float, top: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * nbytes / top


def _group(at: Stacks, stage: int, top: float) -> Iterator[str]:
    middle = LEFT + PITCH * (stage + 0.5)
    predicted, measured = at.predicted(stage), at.measured(stage)
    here = stage == at.stage
    first = middle - (BAR / 2 if measured is None else BAR + 2)
    stacks = [_stack(first, predicted, top, f"stage {stage}, by the formula", False)]
    if measured is not None:
        stacks.append(_stack(middle + 2, measured, top, f"stage {stage}, from a run", True))
    yield svg.element("g", *stacks, opacity=None if here else PALE)
    total, y = quantities.nbytes(predicted.total), _y(predicted.total, top) - 6
    how: dict[str, Any] = {"text_anchor": "middle", "font_weight": 600 if here else None}
    yield svg.text(middle, y, total, fill=palette.INK, class_="ls-ink ls-halo", **how, **svg.HALO)
    yield svg.text(middle, BOTTOM + 17, f"stage {stage}", **how)
    yield svg.text(middle, BOTTOM + 33, NAMES[stage], **how)


def _stack(x: float, states: States, top: float, name: str, is_framed: bool) -> str:
    """Kinds upon each other, parameters at the bottom."""
    parts, below = [], 0
    for kind, nbytes in zip(KINDS, states, strict=True):
        y = _y(below + nbytes, top)
        told = svg.title(f"{name}: {kind} {quantities.nbytes(nbytes)}")
        high = _y(below, top) - y
        parts.append(svg.bar(x, y, BAR, high, nbytes, told, fill=palette.MEMORY[kind], data_along="y"))
        below += nbytes
    if is_framed:
        y = _y(below, top)
        frame = {"fill": "none", "stroke": palette.INK, "stroke_width": 1.5, "class_": "ls-line", "data_along": "y"}
        parts.append(svg.bar(x, y, BAR, max(1.0, BOTTOM - y), states.total, **frame))
    return svg.element("g", *parts)


def _card(top: float) -> Iterator[str]:
    """What fits into one GPU, if the axis goes so far."""
    if top > CARD:
        for x, end, y in ((LEFT, RIGHT, _y(CARD, top)), (372.0, 394.0, 46.5)):
            yield svg.line(x, y, end, y, stroke_dasharray="5 3", stroke_width=1.2)
        yield svg.text(400, 50.5, f"{quantities.nbytes(CARD)}: one GPU")


def _table(at: Stacks) -> Iterator[str]:
    """The chosen stage, kind by kind."""
    y, measured = BOTTOM + 62, at.measured(at.stage)
    yield svg.text(14, y, f"Stage {at.stage}", font_weight=600)
    for x, told in zip(COLUMNS[1:], ("bytes a rank", "by the formula", "from a run"), strict=True):
        yield svg.faint(x, y, told, text_anchor=None if x == COLUMNS[1] else "end")
    each, predicted = model_states(1, 1, 0, MIXED), at.predicted(at.stage)
    rows = zip(KINDS, each, predicted, measured or [None] * 3, strict=True)
    for n, (kind, of_one, nbytes, run) in enumerate(rows, start=1):
        line = y + ROW * n
        yield svg.element("rect", x=14.0, y=line - 10.5, width=12.0, height=12.0, rx=2, fill=palette.MEMORY[kind])
        formula = f"{of_one}Ψ/{at.ranks}" if at.stage >= CUT[n - 1] else f"{of_one}Ψ"
        yield from _cells(line, (kind, formula, quantities.nbytes(nbytes), _told(run)))
    total = None if measured is None else measured.total
    yield svg.line(14, y + ROW * 3 + 6, COLUMNS[-1], y + ROW * 3 + 6, stroke=palette.FAINT)
    yield from _cells(y + ROW * 4 + 2, ("together", "", quantities.nbytes(predicted.total), _told(total)), 600)
    numbers = sent(at.numbers, at.ranks, at.stage)
    around = "3Ψ" if at.stage == 3 else "2Ψ"
    told = f"A rank sends {around}(K-1)/K numbers in a step: {quantities.nbytes(2 * numbers)}."
    yield svg.faint(14, y + ROW * 5 + 8, told)


def _told(nbytes: int | None) -> str:
    return "not run" if nbytes is None else quantities.nbytes(nbytes)


def _cells(y: float, told: tuple[str, ...], weight: int | None = None) -> Iterator[str]:
    for x, cell in zip(COLUMNS, told, strict=True):
        anchor = "end" if x >= COLUMNS[2] else None
        yield svg.text(x, y, cell, text_anchor=anchor, font_weight=weight)
