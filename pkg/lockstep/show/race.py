"""race(): what each way to train pays until it reaches one loss, with sliders for the straggler and the link.

Three prices are drawn side by side, since no method is cheapest in all of them: time, bytes, updates. The scales are
logarithmic and the same for all settings, so that a slider moves the points and not the axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.player import Player, Sheet, Slider
from lockstep.show.race_results import RANKS, TARGET, Arrival, Race, recorded

WIDTH, TOP, PITCH = svg.WIDTH, 110.0, 27.0
NAMES, PANEL, GAP = 150.0, 118.0, 12.0  # where the panels begin, and how wide they are
ROOM = 46.0  # from the name of a tick to the next one's
POINT, LEAST = palette.ROLES["simulated"], palette.ROLES["marked"]


@dataclass(frozen=True)
class Price:
    """One of the three panels."""

    name: str
    of: Callable[[Arrival], float]
    told: Callable[[float], str]
    least: str  # who pays least


PRICES = (
    Price("time", lambda a: a.seconds or math.inf, quantities.seconds, "first:"),
    Price("sent by all ranks", lambda a: a.nbytes, quantities.nbytes, "fewest bytes:"),
    Price("updates", lambda a: a.updates, lambda n: f"{n:,.0f}", "fewest updates:"),
)


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis from ``low`` to ``high``, from ``left`` on."""

    left: float
    low: float
    high: float

    def __call__(self, value: float) -> float:
        return self.left + (PANEL - 8) * math.log(value / self.low) / math.log(self.high / self.low) + 4

    def ticks(self) -> list[float]:
        """1, 2 and 5 times powers of ten; or 1 and 3 times; or these powers alone, if there is no room for more."""
        for steps in ((1, 2, 5), (1, 3), (1,)):
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)))
            found = [t for n in powers for step in steps if self.low <= (t := step * 10.0**n) <= self.high]
            if all(self(b) - self(a) >= ROOM for a, b in pairwise(found)):
                break
        return found


class RaceFigure(Player):
    """Every race is drawn ahead. See ``race``."""

    label = "The race to one loss"

    def __init__(self, races: Sequence[Race], at: int) -> None:
        self.races, self.at = races, at
        self.stragglers = list(dict.fromkeys(one.straggler for one in races))
        self.links = list(dict.fromkeys(one.link for one in races))
        settings = [(one.straggler, one.link) for one in races]
        if not races or settings != list(product(self.stragglers, self.links)):
            raise UsageError(
                "The races of a figure have each straggler on each link, links in the same order.",
                "Give it race.recorded(), or a single race.",
            )
        scales = [_scale(price, n, races) for n, price in enumerate(PRICES)]
        self.drawings = [drawn(one, scales) for one in races]
        super().__init__([self.drawings[at]], [words(races[at])])

    def sliders(self) -> tuple[Slider, ...]:
        if len(self.races) == 1:
            return ()
        straggler, link = divmod(self.at, len(self.links))
        slow = ["none" if s == 1 else f"{s:g} × as slow" for s in self.stragglers]
        return Slider("straggler", slow, straggler), Slider("link", self.links, link)

    def sheets(self) -> list[Sheet]:
        return [Sheet([drawing], [words(one)]) for drawing, one in zip(self.drawings, self.races, strict=True)]


def race(races: Race | Sequence[Race] | None = None, straggler: float = 4, link: str = "slow") -> RaceFigure:
    """Time, bytes and updates of each method until it has reached the loss. By default those of all recorded settings,
    beginning with ``straggler`` and ``link``; or ``races`` of your own, one or a whole grid.

    Raises UsageError for a setting that is not among them, or a grid that is not whole."""
    several = recorded() if races is None else [races] if isinstance(races, Race) else list(races)
    settings = [(one.straggler, one.link) for one in several]
    if races is None and (straggler, link) not in settings:
        known = ", ".join(f"{s:g} on {link!r}" for s, link in settings)
        raise UsageError(f"No race with a straggler of {straggler!r} on {link!r} is recorded.", f"There are {known}.")
    return RaceFigure(several, settings.index((straggler, link)) if (straggler, link) in settings else 0)


def drawn(one: Race, scales: Sequence[Scale]) -> str:
    """One setting: a row for each method, a panel for each price."""
    bottom = TOP + PITCH * len(one.arrivals)
    rows = [part for n, a in enumerate(one.arrivals) for part in _row(a, TOP + PITCH * (n + 0.5), one, scales)]
    body = [
        svg.text(14, 26, f"The race to a loss of {TARGET:g}, on {RANKS} machines", 13, font_weight=600),
        svg.text(14, 46, f"{sentence(setting(one))}."),
        svg.faint(14, 64, "Dashed: synchronous. Orange, with a ring: the least. Scales are logarithmic."),
        *(part for price, scale in zip(PRICES, scales, strict=True) for part in _panel(price, scale, one, bottom)),
        *rows,
    ]
    return svg.document(WIDTH, bottom + 34, "The race to one loss", words(one), body)


def setting(one: Race) -> str:
    """As in "rank 1 takes 4 times as long, link: slow"."""
    slow = "no straggler" if one.straggler == 1 else f"rank 1 takes {one.straggler:g} times as long"
    return f"{slow}, link: {one.link}"


def sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def words(one: Race) -> str:
    """The cheapest method by each price, and the methods that did not reach the loss."""
    there = [a for a in one.arrivals if a.seconds is not None]
    told = []
    for price in PRICES if there else ():
        best = min(map(price.of, there))
        names = " and ".join(a.method for a in there if price.of(a) == best)
        told.append(f"{price.least} {names}, {price.told(best)}")
    late = [f"{a.method}: {a.loss:.2f} after {a.updates:,} updates" for a in one.arrivals if a.seconds is None]
    missing = f" Not reached by {'; '.join(late)}." if late else ""
    said = "; ".join(told) or "nobody reaches it"
    return f"{sentence(setting(one))}, to a loss of {TARGET:g}: {said}.{missing}"


def _panel(price: Price, scale: Scale, one: Race, bottom: float) -> Iterator[str]:
    yield svg.lane(scale.left, TOP, PANEL, bottom - TOP)
    yield svg.text(scale.left, TOP - 12, price.name, font_weight=600)
    for tick in scale.ticks():
        x = scale(tick)
        yield svg.line(x, TOP, x, bottom, stroke=palette.FAINT, stroke_width=0.5, stroke_opacity=0.5)
        yield svg.faint(x, bottom + 18, price.told(tick), text_anchor="middle")
    first = one.arrivals[0]
    if first.seconds is not None:
        x = scale(price.of(first))
        yield svg.line(x, TOP, x, bottom, stroke_dasharray="4 3", stroke_width=1)


def _row(a: Arrival, y: float, one: Race, scales: Sequence[Scale]) -> Iterator[str]:
    yield svg.text(NAMES - 8, y + 4, a.method, text_anchor="end")
    if a.seconds is None:
        yield svg.text(NAMES + 8, y + 4, f"not reached: {a.loss:.2f} after {a.updates:,} updates", font_style="italic")
        return
    for price, scale in zip(PRICES, scales, strict=True):
        value = price.of(a)
        x = scale(value)
        is_least = value == min(price.of(b) for b in one.arrivals if b.seconds is not None)
        fill = LEAST if is_least else POINT
        told, is_right = price.told(value), x > scale.left + PANEL / 2
        if is_least:
            yield svg.element("circle", cx=x, cy=y, r=8.0, fill="none", stroke=LEAST, stroke_width=1.5)
        yield svg.element("circle", svg.title(f"{a.method}, {price.name}: {told}"), cx=x, cy=y, r=5.0, fill=fill)
        anchor = "end" if is_right else "start"
        weight = 600 if is_least else None
        yield svg.text(x - 12 if is_right else x + 12, y + 4, told, text_anchor=anchor, font_weight=weight,
                       fill=palette.INK, class_="ls-ink ls-halo", **svg.HALO)  # fmt: skip


def _scale(price: Price, number: int, races: Sequence[Race]) -> Scale:
    """Over all races, with some room."""
    values = [price.of(a) for one in races for a in one.arrivals if a.seconds is not None] or [1.0]
    return Scale(NAMES + number * (PANEL + GAP), min(values) / 1.15, max(values) * 1.15)
