"""The board's server: the page for the projector, its data, and the reports of learners.

    GET  .                      the page
    GET  state                  what it shows, as JSON; it asks every few seconds
    GET  questions/before       the concept inventory, and questions/after
    POST report, leave, answers what learners' kernels and the page of questions send

Whoever knows the token may look and report: it stands in the address, or in the header of a report. On a hub the hub
says who may (``on_the_hub``). One thread does all of it; a report costs well under a millisecond.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
from collections.abc import Callable
from typing import Any

import psutil
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from lockstep.classroom import page, question_page
from lockstep.classroom.reception import Full, Reception, TooMany
from lockstep.errors import UsageError
from lockstep.reports.report import FORMS, MOST_BYTES, Refused, read_answers, read_leave, read_report

STATUS: tuple[tuple[type[Refused], int], ...] = ((TooMany, 429), (Full, 403), (Refused, 400))
NO_ROOM = 503
LATER = "30"  # seconds, for whoever reports too often
SYNC = 1000  # milliseconds between two words to the disk
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Handler(RequestHandler):
    """``reception``, and ``token``: what a request must have."""

    def initialize(self, reception: Reception, token: str, shown: dict[str, Any]) -> None:
        self.reception, self.token, self.shown = reception, token, shown

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    async def prepare(self) -> None:
        await self.let_in()

    async def let_in(self) -> None:
        """Raise HTTPError for whoever does not know the token."""
        written = self.request.headers.get("Authorization", "").removeprefix("token ")
        given = written or self.get_query_argument("token", "")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            raise HTTPError(403, reason="The address of this board has another token")

    async def learner(self, claimed: str) -> str:
        """Who reports: here whoever the report says, since nobody else knows that number."""
        return claimed

    def who_answers(self) -> tuple[str, bool]:
        """For the script of a page: what must come back with its requests, and whether it is known who answers."""
        return "", False

    def check_xsrf_cookie(self) -> None:
        """A request is let in by a header or an address, never by a cookie: nobody's browser can be made to send it."""

    def write_error(self, status_code: int, **about: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps({"refused": self._reason}))

    def tell(self, told: object) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(told, ensure_ascii=False))

    def show(self, html: str, policy: str) -> None:
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Security-Policy", policy)
        self.finish(html)

    def refuse(self, why: Refused) -> None:
        status = next(status for kind, status in STATUS if isinstance(why, kind))
        if status == 429:
            self.set_header("Retry-After", LATER)
        self.set_status(status)
        self.tell({"refused": str(why)})

    async def taken(self, take: Callable[[], object]) -> None:
        """Tell what became of a request, after it has been noted."""
        try:
            self.tell(take())
        except Refused as why:
            self.refuse(why)
        except OSError as error:
            self.set_status(NO_ROOM)
            self.tell({"refused": f"The board cannot keep it: {error.strerror or error}."})


class Page(Handler):
    def get(self) -> None:
        self.show(*page.page(self.shown, self.who_answers()[0]))


class State(Handler):
    def get(self) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(self.reception.told(self.shown["names"]))


class Questions(Handler):
    def get(self, form: str) -> None:
        self.show(*question_page.page(form, *self.who_answers()))


class ReportTo(Handler):
    async def post(self) -> None:
        try:
            report = read_report(self.request.body)
        except Refused as why:
            return self.refuse(why)
        mine = type(report)(await self.learner(report.learner), report.nickname, report.results)
        return await self.taken(lambda: self.reception.report(mine))


class AnswersTo(Handler):
    async def post(self) -> None:
        try:
            given = read_answers(self.request.body)
        except Refused as why:
            return self.refuse(why)
        mine = type(given)(await self.learner(given.learner), given.form, given.answers)
        return await self.taken(lambda: self.reception.answers(mine))


class Leave(Handler):
    async def post(self) -> None:
        try:
            claimed = read_leave(self.request.body)
        except Refused as why:
            return self.refuse(why)
        learner = await self.learner(claimed)
        return await self.taken(lambda: self.reception.leave(learner))


def application(
    reception: Reception,
    token: str,
    prefix: str = "/",
    names: bool = True,
    join: str = "",
    mixed_in: tuple[type, ...] = (),
    more: list[Any] | None = None,
) -> Application:
    """The board below ``prefix``. ``join`` is the address that the page tells learners, and ``mixed_in`` go before each
    handler: they say who is let in, instead of the token."""
    given = {"reception": reception, "token": token, "shown": {"names": names, "join": join}}
    forms = "|".join(FORMS)
    places = {"": Page, "state": State, f"questions/({forms})": Questions, "report": ReportTo, "answers": AnswersTo,
              "leave": Leave}  # fmt: skip
    handlers = [
        (prefix + path, type(handler.__name__, (*mixed_in, handler), {}), given) for path, handler in places.items()
    ]
    return Application([*handlers, *(more or [])], log_function=_silent)


def listening(address: str, port: int) -> list[socket.socket]:
    """Raises UsageError for an address that is not this machine's, and a port that is taken."""
    try:
        return bind_sockets(port, address)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(
            f"The board cannot listen on {address}, port {port}: {why}.", "Choose others: --bind ADDRESS --port N."
        ) from None


async def serve(app: Application, sockets: list[socket.socket], reception: Reception) -> None:
    """Serve until the task is cancelled. Who sends slowly, or nothing, is cut off."""
    server = HTTPServer(
        app, max_body_size=MOST_BYTES, max_header_size=8192, body_timeout=10, idle_connection_timeout=60,
        max_buffer_size=4 * MOST_BYTES,
    )  # fmt: skip
    server.add_sockets(sockets)
    syncing = PeriodicCallback(reception.journal.sync, SYNC)
    syncing.start()
    try:
        await asyncio.Event().wait()
    finally:
        syncing.stop()
        server.stop()
        reception.journal.close()


def addresses(bound: str) -> list[str]:
    """Under which addresses other machines reach what listens on ``bound``: all of this machine's for 0.0.0.0."""
    if bound not in ("0.0.0.0", "::", ""):
        return [bound]
    every = [a for each in psutil.net_if_addrs().values() for a in each if a.family == socket.AF_INET]
    found = [a.address for a in every]
    return [address for address in found if not address.startswith("127.")] or ["127.0.0.1"]


def _silent(handler: RequestHandler) -> None:
    """Requests are not logged: their addresses have the token, and whose they are is nobody's business."""
