"""tokens_to_experts(): tokens on their way to the experts' ranks and back, step by step.

A column for each rank: above, its tokens; below, its expert with the rows that it computes. A square is a token. At
home it bears the number of the expert that the gate has chosen, at the expert that of the rank where it is at home.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lockstep.errors import UsageError
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player
from lockstep.show.quantities import count

MOST_RANKS, MOST_TOKENS = 8, 16


class Token(NamedTuple):
    """One choice of a token: token ``place`` of ``rank`` goes to ``expert``, unless that one has no room for it."""

    rank: int
    place: int
    expert: int
    kept: bool = True


STEPS = (
    "The gate has chosen",
    "Dispatch: an all-to-all",
    "Each expert computes its rows",
    "Combine: an all-to-all back",
)
WIDTH, EDGE, TOP = svg.WIDTH, 14.0, 92.0
HOMES = [palette.COLOURS[kind] for kind in ("all_reduce", "send", "recv", "broadcast")]
SQUARE, GAP = 26.0, 4.0


@dataclass(frozen=True)
class Sheet:
    """All tokens, and where they are drawn, in pixels."""

    tokens: Sequence[Token]

    @cached_property
    def ranks(self) -> int:
        return 1 + max(max(token.rank, token.expert) for token in self.tokens)

    @cached_property
    def rows(self) -> dict[Token, int]:
        """The row of each token that is kept, at its expert: rank by rank, as an all-to-all delivers them."""
        seats, seen = {}, Counter[int]()
        for token in sorted(self.tokens):
            if token.kept:
                seats[token] = seen[token.expert]
                seen[token.expert] += 1
        return seats

    @cached_property
    def loads(self) -> list[int]:
        """How many rows each expert computes."""
        return [sum(token.expert == rank and token.kept for token in self.tokens) for rank in range(self.ranks)]

    @property
    def pitch(self) -> float:
        return (WIDTH - 2 * EDGE) / self.ranks

    @property
    def in_a_line(self) -> int:
        return max(1, int((self.pitch - 14) / (SQUARE + GAP)))

    @cached_property
    def experts_top(self) -> float:
        lines = 1 + max(token.place for token in self.tokens) // self.in_a_line
        return TOP + lines * (SQUARE + GAP) + 46

    @cached_property
    def height(self) -> float:
        return self.experts_top + -(-max(self.loads) // self.in_a_line) * (SQUARE + GAP) + 52

    def _seat(self, rank: int, number: int, top: float) -> tuple[float, float]:
        line, seat = divmod(number, self.in_a_line)
        return EDGE + rank * self.pitch + 6 + seat * (SQUARE + GAP), top + line * (SQUARE + GAP)

    def home(self, token: Token) -> tuple[float, float]:
        return self._seat(token.rank, token.place, TOP)

    def away(self, token: Token) -> tuple[float, float]:
        return self._seat(token.expert, self.rows[token], self.experts_top)


class TokensToExperts(Player):
    """Four steps: the gate's choice, dispatch, the experts, combine. See ``tokens_to_experts``."""

    label = "Tokens to experts"

    def __init__(self, tokens: Sequence[Token]) -> None:
        sheet = Sheet(tuple(tokens))
        told = [caption(sheet, step) for step in range(len(STEPS))]
        super().__init__([draw(sheet, step, told[step]) for step in range(len(STEPS))], told, step=1)


def tokens_to_experts(tokens: Sequence[Token]) -> TokensToExperts:
    """Tokens of up to 8 ranks, one expert on each rank. Raises UsageError for more, and for none."""
    if not tokens:
        raise UsageError("There are no tokens to draw.", "Give a Token for each choice of the gate.")
    if Sheet(tokens).ranks > MOST_RANKS or max(token.place for token in tokens) >= MOST_TOKENS:
        raise UsageError(f"This figure has room for {MOST_RANKS} ranks with {MOST_TOKENS} tokens each.")
    return TokensToExperts(tokens)


def caption(sheet: Sheet, step: int) -> str:
    """What this step shows, with its numbers."""
    rows = ", ".join(map(str, sheet.loads))
    stay = sum(token.rank == token.expert for token in sheet.rows)
    dropped = len(sheet.tokens) - len(sheet.rows)
    lost = f" {count(dropped, 'token has', 'tokens have')} no place at a full expert." if dropped else ""
    told = (
        "Each number is the expert that the gate has chosen for a token.",
        f"The experts get {rows} rows. {stay} of {len(sheet.rows)} stay on their rank.{lost}",
        f"The busiest expert has {count(max(sheet.loads), 'row')}: the others wait for it.",
        "Each result is back at its token's place." + (" Dropped tokens have none." if dropped else ""),
    )
    return f"{STEPS[step]}. {told[step]}"


def draw(sheet: Sheet, step: int, told: str) -> str:
    body = [
        svg.text(EDGE, 26, STEPS[step], 14, font_weight=600),
        *(
            svg.faint(EDGE, 45 + 16 * i, words)
            for i, words in enumerate(svg.wrapped(told[len(STEPS[step]) + 2 :], 520))
        ),
        *(part for rank in range(sheet.ranks) for part in _column(sheet, rank, step)),
        *(part for token in sheet.tokens for part in _token(sheet, token, step)),
        svg.faint(EDGE, sheet.height - 12, "Colour: the rank where a token is at home."),
    ]
    return svg.document(WIDTH, sheet.height, f"Tokens to experts: {STEPS[step]}", told, body)


def _column(sheet: Sheet, rank: int, step: int) -> Iterator[str]:
    x, y = EDGE + rank * sheet.pitch, sheet.experts_top
    deep = sheet.height - 40 - y
    yield svg.text(x + 6, TOP - 8, f"rank {rank}")
    yield svg.lane(x + 2, y - 4, sheet.pitch - 6, deep)
    if step == 2:
        rim = {"x": x + 2, "y": y - 4, "width": sheet.pitch - 6, "height": deep, "rx": 2}
        yield svg.element("rect", **rim, fill="none", stroke=palette.INK, stroke_width=2, class_="ls-line")
    told = f"expert {rank}: {sheet.loads[rank]}" if step else f"expert {rank}"
    yield svg.text(x + max(1, min(6, sheet.pitch - svg.length(told))), y - 12, told)


def _token(sheet: Sheet, token: Token, step: int) -> Iterator[str]:
    home, is_away = sheet.home(token), step in (1, 2) and token.kept
    if step in (1, 2) or (step and not token.kept):
        yield _hollow(*home, "" if token.kept else "×")
    if not token.kept and step:
        return
    here = sheet.away(token) if is_away else home
    yield _square(token, *here, str(token.rank if is_away else token.expert), is_done=step == 3)
    if step in (1, 3):
        x, y = home if is_away else sheet.away(token)
        yield motion.came(x - here[0], y - here[1], _square(token, *here, ""))


def _square(token: Token, x: float, y: float, label: str, is_done: bool = False) -> str:
    fill = HOMES[token.rank % len(HOMES)]
    told = svg.title(f"token {token.place} of rank {token.rank}: expert {token.expert}")
    rim = {"stroke": palette.INK, "stroke_width": 2, "class_": "ls-line"} if is_done else {}
    box = svg.element("rect", x=x, y=y, width=SQUARE, height=SQUARE, rx=4, fill=fill, **rim)
    word = svg.text(x + SQUARE / 2, y + SQUARE / 2 + 4, label, text_anchor="middle", fill=palette.text_on(fill))
    return svg.element("g", told, box, word if label else "")


def _hollow(x: float, y: float, label: str) -> str:
    rim = {"stroke": palette.FAINT, "stroke_dasharray": "3 2"}
    box = svg.element("rect", x=x + 1, y=y + 1, width=SQUARE - 2, height=SQUARE - 2, rx=4, fill="none", **rim)
    return box + (svg.text(x + SQUARE / 2, y + SQUARE / 2 + 4, label, text_anchor="middle") if label else "")
