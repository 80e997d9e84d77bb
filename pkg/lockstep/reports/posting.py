"""One HTTP request to the board, with the library of Python alone. It never raises."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError

from lockstep.reports.membership import Membership

PATIENCE = 3.0  # seconds until a board that says nothing counts as away
MOST_OF_AN_ANSWER = 65_536  # bytes


@dataclass(frozen=True)
class Sent:
    """What became of a request: HTTP's status, 0 if nobody answered, and what was said."""

    status: int
    told: dict[str, Any]

    @property
    def arrived(self) -> bool:
        return 200 <= self.status < 300


def post(to: Membership, what: str, body: bytes) -> Sent:
    """One request. It follows no redirection: the token is for this address."""
    head = {"Content-Type": "application/json", "Authorization": f"token {to.credential}"}
    request = urllib.request.Request(to.url + what, body, head, method="POST")
    try:
        with _opener().open(request, timeout=PATIENCE) as answer:
            return Sent(answer.status, _told(answer.read(MOST_OF_AN_ANSWER)))
    except HTTPError as error:
        with error:
            return Sent(error.code, _told(error.read(MOST_OF_AN_ANSWER)))
    except (OSError, HTTPException, ValueError):
        return Sent(0, {})


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Stays)


def _told(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
