"""A learner's own memory, by kind, against the caps that it should fit under."""

from collections.abc import Sequence
from typing import NamedTuple

from lockstep.checks.observation import Seen
from lockstep.events import MEMORY_KINDS
from lockstep.show.palette import MEMORY
from lockstep.show.svg import WIDTH, document, element, faint, line, text

LEFT, BAR = 8, 26  # pixels


class Level(NamedTuple):
    number: int
    nbytes: int
    told: str
    advice: str


def draw(seen: Seen, levels: Sequence[Level]) -> str:
    """The rank that holds most, its arguments too; a line for each cap."""
    rank = max(seen.case.members, key=lambda rank: seen.memory[rank]["peak"])
    kinds = {kind: seen.memory[rank][kind] for kind in MEMORY_KINDS}
    given = sum(kinds.values()) - seen.memory[rank]["peak"]
    scale = (WIDTH - 60) / max([sum(kinds.values()), *(level.nbytes + given for level in levels)])
    said = f"{seen.case}: rank {rank} holds {sum(kinds.values()):,} bytes at its worst moment, {given:,} were given"
    parts, x = [text(LEFT, 16, said)], float(LEFT)
    for row, (kind, nbytes) in enumerate(kinds.items()):
        colour, y = MEMORY[kind], 110 + 18 * row
        parts.append(element("rect", x=x, y=50, width=nbytes * scale, height=BAR, fill=colour))
        parts.append(element("rect", x=LEFT, y=y - 10, width=10, height=10, fill=colour))
        parts.append(faint(LEFT + 16, y, f"{nbytes:,} bytes of {kind}"))
        x += nbytes * scale
    for level in levels:
        at = LEFT + (level.nbytes + given) * scale
        parts += [line(at, 44, at, 84), faint(at - 3, 40, f"{level.number}")]
    return document(WIDTH, 200, "Memory", f"{said}. The caps: {', '.join(f'{v.nbytes:,}' for v in levels)}.", parts)
