"""Numbers and lists in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """As in "1 message", "2,000 messages"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(items: Sequence[object], last: str = "and") -> str:
    """As in "3", "1 and 3", "1, 2 and 3"."""
    words = [str(item) for item in items]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def printable(text: str) -> str:
    """``text`` as every output can take it: half of a surrogate pair, which is no character, as its number."""
    return text.encode("utf-8", "backslashreplace").decode()
