"""The board's one page. Nothing in it comes from elsewhere, and its script writes text only, never HTML."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from lockstep.classroom.learners import LEAST
from lockstep.show.palette import ROLES

_HERE = files("lockstep.classroom")
POLICY = (
    "default-src 'none'; style-src 'nonce-{0}'; script-src 'nonce-{0}'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
COLOURS = {"done": ROLES["right"], "begun": ROLES["marked"], "rest": ROLES["work"], "stuck": ROLES["wrong"]}


def page(shown: Mapping[str, Any], xsrf: str = "") -> tuple[str, str]:
    """The page, and its Content-Security-Policy. ``shown["join"]`` is the address that learners join by.
    A hub wants ``xsrf`` back."""
    return filled("board.html", join=shown["join"], least=LEAST, xsrf=xsrf)


def filled(name: str, **values: Any) -> tuple[str, str]:
    """A page of this package, with the course's colours, and ``values`` for its script."""
    nonce = secrets.token_urlsafe(16)
    colours = "".join(f"--{role}:{colour};" for role, colour in COLOURS.items())
    told = json.dumps(values, ensure_ascii=True).replace("<", "\\u003c")  # it stands in a script
    style = _HERE.joinpath("board.css").read_text(encoding="utf-8")
    text = _HERE.joinpath(name).read_text(encoding="utf-8")
    for mark, value in {"STYLE": style, "COLOURS": colours, "NONCE": nonce, "VALUES": told}.items():
        text = text.replace(f"@{mark}@", value)
    return text, POLICY.format(nonce)
