"""padding(): sequences of unequal length in batches: each line a sequence, and pale what its batch's longest costs it.

A slider chooses among ways to batch them; all have one scale, so that the pale area can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lockstep.bottlenecks.lengths import Batches, computed_tokens
from lockstep.bottlenecks.lengths import padding as share_of
from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.player import Player, Sheet, Slider

LEFT, RIGHT, TOP = 84.0, 520.0, 66.0
ROW, GAP, MOST = 5.0, 9.0, 96
NAME = "Tokens and padding"


class Padding(Player):
    """A sheet for each way. See ``padding``."""

    label = NAME

    def __init__(self, lengths: Sequence[int], ways: Mapping[str, Batches], at: str) -> None:
        self.names, self.at = list(ways), list(ways).index(at)
        self.all = [
            Sheet([draw(name, lengths, batches)], [words(name, lengths, batches)]) for name, batches in ways.items()
        ]
        super().__init__(self.all[self.at].frames, self.all[self.at].captions)

    def sliders(self) -> Sequence[Slider]:
        return (Slider("batches", self.names, self.at),) if len(self.names) > 1 else ()

    def sheets(self) -> Sequence[Sheet]:
        return self.all


def padding(lengths: Sequence[int], ways: Mapping[str, Batches], at: str | None = None) -> Padding:
    """``lengths``: of up to 96 sequences, in tokens; ``ways``: name → the numbers of the sequences in each batch;
    ``at``: the way that is shown first. Raises UsageError for more sequences, and for none."""
    if not lengths or not ways or len(lengths) > MOST:
        raise UsageError(f"This figure has room for 1 to {MOST} sequences, and needs a way to batch them.")
    return Padding(lengths, ways, next(iter(ways)) if at is None else at)


def words(name: str, lengths: Sequence[int], batches: Batches) -> str:
    computed = computed_tokens(lengths, batches)
    tokens = round(computed * (1 - share_of(lengths, batches)))
    return f"{name}: {tokens:,} tokens, {computed:,} computed. {share_of(lengths, batches):.0%} is padding."


def draw(name: str, lengths: Sequence[int], batches: Batches) -> str:
    told = words(name, lengths, batches)
    height = TOP + sum(ROW * len(batch) + GAP for batch in batches) + 24
    body = [
        svg.text(14, 26, svg.fitting(name, svg.WIDTH - 28, 14, True), 14, font_weight=600),
        svg.faint(14, 46, told.removeprefix(f"{name}: ")),
        *_batches(lengths, batches),
        svg.faint(14, height - 10, "A line is a sequence. Pale: padding up to its batch’s longest."),
    ]
    return svg.document(svg.WIDTH, height, NAME, told, body)


def _batches(lengths: Sequence[int], batches: Batches) -> Iterator[str]:
    scale, y = (RIGHT - LEFT) / max(lengths), TOP
    for number, batch in enumerate(batches):
        longest = max(lengths[n] for n in batch)
        deep = ROW * len(batch)
        yield svg.faint(14, y + deep / 2 + 4, f"batch {number}")
        yield svg.lane(LEFT, y, longest * scale, deep)
        for n in batch:
            told = svg.title(f"{lengths[n]:,} tokens, and {longest - lengths[n]:,} of padding")
            width = lengths[n] * scale
            yield svg.bar(LEFT, y + 0.5, width, ROW - 1, lengths[n], told, fill=palette.COLOURS["all_reduce"])
            y += ROW
        y += GAP
