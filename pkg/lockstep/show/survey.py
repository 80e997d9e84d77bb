"""survey(): this machine drawn: cores with their lanes and caches, the memory, the ways between them, GPUs."""

from __future__ import annotations

from lockstep.show.picture import Picture
from lockstep.show.survey_svg import draw, words
from lockstep.this_machine.survey import Survey, full_survey


def survey(machine: Survey | None = None) -> Picture:
    """``machine``, or the one that this runs on, as its survey found it (measured once, about 5 s, then kept)."""
    found = machine if machine is not None else full_survey()
    return Picture(draw(found), words(found))
