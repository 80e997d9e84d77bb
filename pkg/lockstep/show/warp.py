"""warp(): one warp's way through a kernel, instruction by instruction, under a slider.

Each frame shows the line of the source, the lanes that are active, and the memory that they touch: sectors of global
memory, or banks of shared memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lockstep.errors import UsageError
from lockstep.show import palette
from lockstep.show.player import Player
from lockstep.show.svg import MONO, WIDTH, document, element, faint, line, text, title

if TYPE_CHECKING:
    from lockstep.simt.profile import Step

MOST = 100  # steps: what anybody steps through


class Warp(Player):
    """A frame for each instruction. See ``warp``."""

    label = "One warp, step by step"
    pause = 600

    def caption(self) -> str:
        return f"Instruction {self.step + 1} of {len(self.frames)}. {self.captions[self.step]}"


def warp(launched: Any) -> Warp:
    """The recorded warp of a launch: ``warp(launch(kernel, grid, block, …, record=True))``. The first 100 instructions.

    Raises UsageError if nothing was recorded.
    """
    steps = list(getattr(launched, "steps", None) or ())[:MOST]
    if not steps:
        raise UsageError("This launch recorded no warp.", "Launch with record=True.")
    source = [(line.number, line.text) for line in launched.lines]
    lanes = list(accumulate(step.mask.bit_count() for step in steps))
    frames = [Frame(step, number, len(steps), source, number + 1, lanes[number]) for number, step in enumerate(steps)]
    return Warp([draw(f) for f in frames], [f.caption() for f in frames])


LANES, SECTOR, WORD, BANKS = 32, 32, 4, 32
ROW, LEFT = 16.0, 14.0
CELL = (WIDTH - 2 * LEFT) / LANES
ON, OFF = palette.ROLES["marked"], palette.SHADES[3]
TOUCHED, CROWDED = palette.COLOURS["recv"], palette.ROLES["wrong"]
MOST_LINES, MOST_COLUMNS = 26, 65  # of source


@dataclass(frozen=True)
class Frame:
    """One instruction, with its place in the run and in the source."""

    step: Step
    number: int
    of: int
    source: Sequence[tuple[int, str]]  # line number and text
    instructions: int  # issued so far, this one included
    lanes: int  # active lanes so far

    @property
    def active(self) -> list[int]:
        return [lane for lane in range(LANES) if self.step.mask >> lane & 1]

    @property
    def places(self) -> list[tuple[int, int]]:
        """(lane, address) of each active lane, if memory is touched."""
        return list(zip(self.active, self.step.addresses, strict=False)) if self.step.addresses else []

    def caption(self) -> str:
        told = f"Line {self.step.line}: {len(self.active)} of 32 lanes at work."
        return f"{told} {touched(self)}" if self.places else told


def touched(frame: Frame) -> str:
    """The access of this step in a sentence."""
    addresses = [address for _, address in frame.places]
    where = f"{frame.step.space} memory ({frame.step.array})"
    if frame.step.space == "global":
        sectors = len({a // SECTOR for a in addresses})
        return f"{where}: {_several(sectors, 'sector')} of 32 bytes for {_several(len(addresses), 'lane')}."
    if frame.step.space == "shared":
        wavefronts = _several(_wavefronts(addresses), "wavefront")
        return f"{where}, 32 banks: {wavefronts} for {_several(len(addresses), 'lane')}."
    return f"{where}."


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _wavefronts(addresses: Sequence[int]) -> int:
    """Different words in the fullest bank."""
    words = {a // WORD for a in addresses}
    return max(Counter(word % BANKS for word in words).values(), default=0)


def draw(frame: Frame) -> str:
    """The whole picture: source, lanes, memory, one under the other."""
    shown = _window(frame)
    top = 34 + ROW * len(shown) + 20
    share = frame.lanes / (LANES * frame.instructions)
    body = [
        text(LEFT, 20, f"instruction {frame.number + 1} of {frame.of}", 13, font_weight=600),
        faint(WIDTH - LEFT, 20, f"lanes at work so far: {share:.0%}", text_anchor="end"),
        *_source(frame, shown),
        *_lanes(frame, top),
        *_memory(frame, top),
    ]  # fmt: skip
    return document(WIDTH, top + 148, "One warp, step by step", frame.caption(), body)


def _window(frame: Frame) -> list[tuple[int, str]]:
    """The source, or as much of it around the line as there is room for."""
    source = list(frame.source)
    if len(source) <= MOST_LINES:
        return source
    at = next((i for i, (number, _) in enumerate(source) if number == frame.step.line), 0)
    first = max(0, min(at - MOST_LINES // 2, len(source) - MOST_LINES))
    return source[first : first + MOST_LINES]


def _source(frame: Frame, shown: Sequence[tuple[int, str]]) -> list[str]:
    drawn = []
    for row, (number, words) in enumerate(shown):
        y = 46 + ROW * row
        now = number == frame.step.line
        if now:
            drawn.append(element("rect", x=LEFT, y=y - 12, width=WIDTH - 2 * LEFT, height=ROW, rx=2, fill=palette.GLOW))
        colour: dict[str, Any] = {"fill": palette.INK} if now else {"fill": palette.INK, "class_": "ls-ink"}
        place: dict[str, Any] = {"text_anchor": "end", "font_family": MONO} | ({"fill": palette.INK} if now else {})
        drawn.append((text if now else faint)(LEFT + 26, y, str(number), **place))
        drawn.append(
            text(LEFT + 36, y, shortened(words, MOST_COLUMNS), font_family=MONO, style="white-space:pre", **colour)
        )
    return drawn


def shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _x(place: float) -> float:
    return LEFT + CELL * place


def _lanes(frame: Frame, top: float) -> list[str]:
    drawn = [faint(LEFT, top, "lanes")]
    for lane in range(LANES):
        on = bool(frame.step.mask >> lane & 1)
        told = title(f"lane {lane}: {'at work' if on else 'switched off'}")
        drawn.append(
            element("rect", told, x=_x(lane) + 1, y=top + 6, width=CELL - 2, height=20, rx=3, fill=ON if on else OFF)
        )
        if lane % 4 == 0:
            colour = palette.text_on(ON) if on else palette.FAINT
            drawn.append(text(_x(lane + 0.5), top + 20, str(lane), fill=colour, text_anchor="middle"))
    return drawn


def _memory(frame: Frame, top: float) -> list[str]:
    """Where the lanes reach: sectors of global memory, or banks of shared memory."""
    if not frame.places or frame.step.space not in ("global", "shared"):
        return []
    cells = _sectors(frame) if frame.step.space == "global" else _banks(frame)
    y, places = top + 88, {lane: place for place, (_, lanes, _) in enumerate(cells) for lane in lanes}
    width = min(CELL, (WIDTH - 2 * LEFT) / len(cells))
    at = [LEFT + (place + 0.5) * width for place in range(len(cells))]
    drawn = [
        line(_x(lane + 0.5), top + 26, at[place], y, stroke=palette.AXIS, stroke_width=1)
        for lane, place in places.items()
    ]
    for place, (name, lanes, words) in enumerate(cells):
        fill = OFF if not lanes else CROWDED if words > 1 and frame.step.space == "shared" else TOUCHED
        told = title(f"{name}: {_several(len(lanes), 'lane')}")
        drawn.append(
            element(
                "rect", told, x=at[place] - width / 2 + 1, y=y, width=max(1.0, width - 2), height=18, rx=2, fill=fill
            )
        )
    drawn.append(text(LEFT, y + 40, touched(frame)))
    return drawn


def _sectors(frame: Frame) -> list[tuple[str, list[int], int]]:
    """(name, lanes, 1) of each sector that is touched, in order of address; gaps are left out."""
    touched = sorted({address // SECTOR for _, address in frame.places})
    return [
        (f"bytes {32 * s:,} to {32 * s + 31:,}", [lane for lane, a in frame.places if a // SECTOR == s], 1)
        for s in touched
    ]


def _banks(frame: Frame) -> list[tuple[str, list[int], int]]:
    """(name, lanes, different words) of each bank."""
    drawn = []
    for bank in range(BANKS):
        there = [(lane, a // WORD) for lane, a in frame.places if a // WORD % BANKS == bank]
        drawn.append((f"bank {bank}", [lane for lane, _ in there], len({word for _, word in there})))
    return drawn
