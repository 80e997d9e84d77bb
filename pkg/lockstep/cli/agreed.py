"""A question before something large is built or downloaded."""

from __future__ import annotations

import sys

from lockstep.errors import UsageError


def agreed(what: str, question: str, command: str) -> bool:
    """Whether whoever sits there says yes, or only Enter. Raises UsageError if nobody does: ``what`` is to be done, and
    `command` --yes does it unasked."""
    if not sys.stdin.isatty():
        raise UsageError(f"{what}, and nobody is here to be asked.", f"Say `{command} --yes`.")
    return input(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")
