"""xray(): who is in the result of a collective, drawn from a run of it, and step by step how they came there."""

from __future__ import annotations

from lockstep.dye.dyed import Dyed
from lockstep.dye.wanted import Wanted
from lockstep.errors import UsageError
from lockstep.show import svg, xray_svg
from lockstep.show.player import Player
from lockstep.show.quantities import count
from lockstep.show.xray_model import Frame, frames
from lockstep.show.xray_svg import Sheet

LARGEST = 9  # ranks: 81 chunks can be seen on one page


class XRay(Player):
    """A frame for each round, and the result at the end, which is shown at first. See ``xray``."""

    label = "Who is in the result"

    def __init__(self, dyed: Dyed, wanted: Wanted | None = None, said: str = "") -> None:
        steps = frames(dyed, wanted)
        sheet = Sheet(steps, names(dyed), wanted is not None)
        captions = [caption(steps, number, said) for number in range(len(steps))]
        lines = [svg.wrapped(told, svg.WIDTH - 28) if told else [] for told in captions]
        tallest = max(map(len, lines))  # so that nothing moves from step to step
        drawn = [
            xray_svg.draw(sheet, step, title(steps, number), lines[number] + [""] * (tallest - len(lines[number])))
            for number, step in enumerate(steps)
        ]
        super().__init__(drawn, captions, step=len(steps) - 1)


def xray(dyed: Dyed, wanted: Wanted | None = None, said: str = "") -> XRay:
    """Draw what ``lockstep.dye.dye`` found: for each rank and element, whose numbers are in it.

    With ``wanted``, as ``total(dyed)``, what is missing and what should not be there is marked. ``said`` stands above
    the result, as the sentence of ``told``. A dye with ``steps=True`` shows the way there as well: what each rank
    holds before each round of messages. Raises UsageError where nothing is certain, and for more than 9 ranks.
    """
    if not dyed.certain:
        raise UsageError(
            "What is in this result is not certain, so there is no picture of it.", "Look at dyed.doubt: it says why."
        )
    if dyed.ranks > LARGEST:
        raise UsageError(f"This figure shows at most {LARGEST} ranks, not {dyed.ranks}.")
    return XRay(dyed, wanted, said)


def title(steps: tuple[Frame, ...], number: int) -> str:
    last = len(steps) - 1
    if number == last:
        return "Who is in the result" + (f", after {count(last, 'round')}" if last else "")
    return f"Who is where, before round {number + 1} of {last}"


def caption(steps: tuple[Frame, ...], number: int, said: str) -> str:
    """What is said above a step."""
    if number == len(steps) - 1:
        return said
    return f"Next: {count(len(steps[number].moves), 'message')}, each to where its arrow points."


def names(dyed: Dyed) -> tuple[str, ...]:
    """Of the columns. In a subgroup ranks count in the group, and their numbers in the world stand beside them."""
    if dyed.members == tuple(range(dyed.ranks)):
        return tuple(f"rank {rank}" for rank in range(dyed.ranks))
    return tuple(f"rank {rank} (world {member})" for rank, member in enumerate(dyed.members))
