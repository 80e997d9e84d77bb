"""heads(): which rank has which heads of attention, with grouped queries; sliders for ranks and for heads with keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.lines import WORKERS
from lockstep.show.player import Player, Sheet, Slider
from lockstep.tensor_parallel.attention import heads_of

HEADS = 8  # of queries
MANY = (1, 2, 4, 8)  # ranks, and heads that have keys and values
LEFT, PITCH, ROW = 66.0, 34.0, 24.0
KEYS = LEFT + PITCH * HEADS + 26  # where the keys and values begin
KEYS_PITCH = (svg.WIDTH - 12 - KEYS) / HEADS
TOP = 84.0


class Heads(Player):
    """Every pair of numbers is drawn ahead. See ``heads``."""

    label = "Who has which heads"

    def __init__(self, kv_heads: int, ranks: int) -> None:
        self.kv_heads, self.ranks = kv_heads, ranks
        super().__init__([draw(kv_heads, ranks)], [words(kv_heads, ranks)])

    def sliders(self) -> tuple[Slider, Slider]:
        stops = [str(n) for n in MANY]
        return (
            Slider("heads with keys G", stops, MANY.index(self.kv_heads)),
            Slider("ranks K", stops, MANY.index(self.ranks)),
        )

    def sheets(self) -> list[Sheet]:
        return [Sheet([draw(*stop)], [words(*stop)]) for stop in product(MANY, MANY)]


def heads(kv_heads: int = 2, ranks: int = 4) -> Heads:
    """Grouped-query attention: eight query heads and ``kv_heads`` key/value heads on ``ranks`` ranks, to begin with.

    Raises UsageError for a number that they do not have."""
    if kv_heads not in MANY or ranks not in MANY:
        raise UsageError(f"There is no picture of {kv_heads} heads with keys on {ranks} ranks.", "Choose 1, 2, 4 or 8.")
    return Heads(kv_heads, ranks)


def times_there(kv_heads: int, ranks: int) -> int:
    """On how many ranks each head of keys and values is."""
    return max(1, ranks // kv_heads)


def words(kv_heads: int, ranks: int) -> str:
    """The figure for those who do not see it."""
    each = [heads_of(r, ranks, HEADS, kv_heads) for r in range(ranks)]
    told = [
        f"rank {r} queries {_told(queries)}, keys and values {_told(keys)}" for r, (queries, keys) in enumerate(each)
    ]
    return (
        f"{HEADS} heads, {kv_heads} with keys and values, on {quantities.count(ranks, 'rank')}. {'; '.join(told)}. "
        f"{_sharing(kv_heads, ranks)}"
    )


def _told(numbers: range) -> str:
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _sharing(kv_heads: int, ranks: int) -> str:
    many = times_there(kv_heads, ranks)
    if many == 1:
        return "Each head is on one rank."
    return f"Each head of keys and values is on {many} ranks: its gradient is the sum of what they find."


# ---- the drawing


def draw(kv_heads: int, ranks: int) -> str:
    bottom = TOP + ROW * ranks
    body = [
        svg.text(14, 26, f"Who has which heads: {quantities.count(ranks, 'rank')}", 14, font_weight=600),
        svg.text(LEFT, 52, f"{HEADS} heads of queries"),
        svg.text(KEYS, 52, f"{kv_heads} of keys and values"),
        *_names(kv_heads),
        *(part for r in range(ranks) for part in _lane(r, kv_heads, ranks)),
        svg.faint(14, bottom + 22, _sharing(kv_heads, ranks)),
    ]
    return svg.document(svg.WIDTH, bottom + 38, "Heads of attention on ranks", words(kv_heads, ranks), body)


def _names(kv_heads: int) -> Iterator[str]:
    for i in range(HEADS):
        yield svg.faint(LEFT + PITCH * (i + 0.5), TOP - 9, str(i), text_anchor="middle")
    for i in range(kv_heads):
        yield svg.faint(KEYS + KEYS_PITCH * (i + 0.5), TOP - 9, str(i), text_anchor="middle")


def _lane(rank: int, kv_heads: int, ranks: int) -> Iterator[str]:
    y, (queries, keys) = TOP + ROW * rank, heads_of(rank, ranks, HEADS, kv_heads)
    yield svg.text(14, y + 15, f"rank {rank}")
    yield svg.lane(LEFT, y, PITCH * HEADS, ROW - 4)
    yield svg.lane(KEYS, y, KEYS_PITCH * kv_heads, ROW - 4)
    colour = WORKERS[rank]
    for x, pitch, name, mine in ((LEFT, PITCH, "q", queries), (KEYS, KEYS_PITCH, "kv", keys)):
        for i in mine:
            place = {"x": x + pitch * i + 1, "y": y, "width": pitch - 2, "height": ROW - 4}
            yield svg.element("rect", svg.title(f"rank {rank} has {name} {i}"), **place, rx=2, fill=colour)
            middle = x + pitch * (i + 0.5)
            yield svg.text(middle, y + 14, name, text_anchor="middle", fill=palette.text_on(colour))
