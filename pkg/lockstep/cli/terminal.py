"""Bars and colours for a terminal; nothing but text where the output is piped, or ``NO_COLOR`` is set."""

from __future__ import annotations

import os
import sys
from typing import TextIO

CODES = {"bold": "1", "faint": "2", "green": "32", "yellow": "33", "cyan": "36"}


class Painter:
    """Paints for ``out``: whether it shows colours, and block characters, is asked once."""

    def __init__(self, out: TextIO | None = None) -> None:
        out = out or sys.stdout
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.colours = out.isatty() and not plain
        self.blocks = (out.encoding or "").lower().startswith("utf")

    def paint(self, words: str, colour: str) -> str:
        return f"\033[{CODES[colour]}m{words}\033[0m" if self.colours and words else words

    def bar(self, done: float, of: float, width: int) -> str:
        """``done`` of ``of`` as a bar; anything done fills a piece of it, and only all of it fills it."""
        share = min(1.0, done / of) if of else 0.0
        full = width if share == 1 else min(width - 1, max(int(share > 0), int(width * share)))
        filled, empty = ("█", "░") if self.blocks else ("#", ".")
        return self.paint(filled * full, "green" if share == 1 else "cyan") + self.paint(
            empty * (width - full), "faint"
        )
