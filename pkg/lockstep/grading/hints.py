"""Three hints for an exercise, each inside the one before: the third takes three decisions."""

from __future__ import annotations

import re

STEPS = ("Hint 1 of 3: where to begin", "Hint 2 of 3: the idea", "Hint 3 of 3: almost the code")


def parts(source: str) -> list[str]:
    """The parts of a hint cell, between lines that are ``---``."""
    return [part.strip() for part in re.split(r"^---$", source, flags=re.M)]


def nested(source: str) -> str:
    """The three parts as folded details, nested."""
    folded = ""
    for title, part in reversed(list(zip(STEPS, parts(source), strict=True))):
        inside = f"\n\n{folded}" if folded else ""
        folded = f"<details>\n<summary>{title}</summary>\n\n{part}{inside}\n\n</details>"
    return folded
