"""Numbers and lists in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """As in "1 message", "2,000 messages"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(items: Sequence[object], last: str = "and") -> str:
    """As in "3", "1 and 3", "1, 2 and 3"."""
    words = [str(item) for item in items]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


LONGER = "it takes longer than that: look at what should change in each turn, and at how many turns there are."


def printable(text: str) -> str:
    """``text`` as every output can take it. As their numbers: half of a surrogate pair, which is no character; what
    a terminal obeys and does not show; what turns text round."""
    whole = text.encode("utf-8", "backslashreplace").decode()
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), whole)


_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # all but tab and newline
