"""A learner's side of the class's board (docs/board.md): what is told after a check, to whom, and how it gets there.

``report``       the format, strict on both sides: what may be told, and no more
``membership``   who has joined which board, and what could not be sent yet, in one file beside the progress
``sender``       the background thread that sends it; no check waits for it
``posting``      one HTTP request
"""

from lockstep.reports.membership import Membership, has_joined, join, joined, leave
from lockstep.reports.sender import after_check

__all__ = ["Membership", "after_check", "has_joined", "join", "joined", "leave"]
