"""blocks_on_sms(): a grid shared out among streaming multiprocessors, round by round. All blocks take equally long."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.errors import UsageError
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player, with_clock
from lockstep.show.quantities import count

MOST_SMS, MOST_ROUNDS = 8, 8
LEFT, TOP, ROW = 76.0, 58.0, 34.0


class BlocksOnSms(Player):
    """The drawing with a clock, round by round. See ``blocks_on_sms``."""

    label = "A grid on its SMs"
    unit = "round"

    def __init__(self, blocks: int, sms: int) -> None:
        self.blocks, self.sms = blocks, sms
        self.rounds = -(-blocks // sms)
        sheet = with_clock(self._drawn(), self.caption(), motion.moments(range(1, self.rounds), self.rounds), "rounds")
        super().__init__(sheet.frames, sheet.captions, moments=sheet.moments)

    def caption(self) -> str:
        idle = self.rounds * self.sms - self.blocks
        told = f"{count(self.blocks, 'block')} on {count(self.sms, 'SM')}: {count(self.rounds, 'round')}. "
        return told + (f"In the last one {count(idle, 'SM')} stand{'' if idle != 1 else 's'} idle." if idle else
                       "No SM is ever idle.")  # fmt: skip

    def _drawn(self) -> str:
        head, width = self.label, (svg.WIDTH - LEFT - 14) / self.rounds
        body = [svg.text(14, 26, head, 14, font_weight=600), *self._rows()]
        body.append(motion.hand(LEFT, width, TOP - 6, TOP + ROW * self.sms))
        body.append(svg.faint(LEFT, TOP + ROW * self.sms + 16, "time: each column is one block long"))
        return svg.document(svg.WIDTH, TOP + ROW * self.sms + 30, head, self.caption(), body)

    def _rows(self) -> Iterator[str]:
        width = (svg.WIDTH - LEFT - 14) / self.rounds
        for sm in range(self.sms):
            y = TOP + ROW * sm
            yield svg.text(LEFT - 10, y + 18, f"SM {sm}", text_anchor="end")
            for turn in range(self.rounds):
                x, block = LEFT + width * turn, turn * self.sms + sm
                if block >= self.blocks:
                    yield svg.lane(x, y, width - 3, ROW - 6)
                    yield svg.faint(x + width / 2, y + 18, "idle", text_anchor="middle")
                    continue
                fill = palette.COLOURS["compute"]
                box = svg.element("rect", x=x, y=y, width=width - 3, height=ROW - 6, rx=3, fill=fill)
                ink = palette.text_on(fill)
                word = svg.text(x + width / 2, y + 18, f"block {block}", fill=ink, text_anchor="middle")
                yield motion.lasting(turn, turn + 1, box, word)


def blocks_on_sms(blocks: int, sms: int) -> BlocksOnSms:
    """``blocks`` equal blocks on ``sms`` SMs with room for one block each, in one of the orders that are possible.

    Raises UsageError for more SMs or rounds than there is room for."""
    if not 1 <= sms <= MOST_SMS or not 1 <= blocks <= sms * MOST_ROUNDS:
        raise UsageError(f"There is no room for {blocks} blocks on {sms} SMs.",
                         f"Choose 1 to {MOST_SMS} SMs, and at most {MOST_ROUNDS} blocks for each.")  # fmt: skip
    return BlocksOnSms(blocks, sms)
