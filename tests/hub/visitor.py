"""Somebody who talks to the hub without a browser: signs in, asks its API, runs Python on a server of theirs."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from house import PASSWORDS, House
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect


class Visitor:
    def __init__(self, house: House, name: str) -> None:
        self.house, self.name = house, name
        self._cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))
        self._token = ""

    def sign_in(self, password: str = "") -> tuple[int, str]:
        """What the hub answers to the form: the status, and the page."""
        self._ask("GET", "/hub/login")
        form = {"username": self.name, "password": password or PASSWORDS[self.name], "_xsrf": self._xsrf()}
        return self._ask("POST", "/hub/login?next=/hub/token", urlencode(form).encode())

    def is_in(self) -> bool:
        return self._ask("GET", "/hub/api/user")[0] == 200

    def api(self, method: str, place: str, body: object = None) -> tuple[int, Any]:
        """By a token, as programs do."""
        if not self._token:
            asked = f"/hub/api/users/{self.name}/tokens?_xsrf={self._xsrf()}"
            made = self._ask("POST", asked, b"{}", {"Content-Type": "application/json"})
            assert made[0] == 201, made
            self._token = json.loads(made[1])["token"]
        data = json.dumps(body or {}).encode() if method == "POST" else None
        status, text = self._ask(method, place, data, {"Authorization": f"token {self._token}"})
        return status, json.loads(text) if text.startswith(("{", "[")) else text

    def start(self, whose: str = "") -> bool:
        """A server; whether there is one in the end."""
        place = f"/hub/api/users/{whose or self.name}"
        self.api("POST", f"{place}/server")
        while True:
            _, user = self.api("GET", place)
            server = user["servers"].get("")
            if server is None or server["ready"]:
                return server is not None
            time.sleep(0.5)

    def run(self, code: str) -> str:
        """What the code prints, in a kernel of the visitor's own server."""
        status, kernel = self.api("POST", f"/user/{self.name}/api/kernels", {"name": "python3"})
        assert status == 201, kernel
        try:
            with ThreadPoolExecutor(1) as thread:  # in that of the tests there may be a browser, whose loop runs
                return thread.submit(asyncio.run, self._executed(kernel["id"], code)).result()
        finally:
            self.api("DELETE", f"/user/{self.name}/api/kernels/{kernel['id']}")

    async def _executed(self, kernel: str, code: str) -> str:
        address = self.house.address.replace("http", "ws", 1)
        asked = HTTPRequest(
            f"{address}/user/{self.name}/api/kernels/{kernel}/channels",
            headers={"Authorization": f"token {self._token}"},
        )
        channel, header = await websocket_connect(asked), {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request"}
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        await channel.write_message(json.dumps(message))
        printed = ""
        while True:
            answer = await channel.read_message()
            assert answer is not None, "the kernel ended"
            heard = json.loads(answer)
            if heard["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            assert heard["msg_type"] != "error", heard["content"]
            printed += heard["content"].get("text", "") if heard["msg_type"] == "stream" else ""
            if heard["msg_type"] == "status" and heard["content"]["execution_state"] == "idle":
                return printed

    def _xsrf(self) -> str:
        return next((str(cookie.value) for cookie in self._cookies if cookie.name == "_xsrf"), "")

    def _ask(
        self, method: str, place: str, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        asked = Request(f"{self.house.address}{place}", data, headers or {}, method=method)
        try:
            with self._opener.open(asked, timeout=120) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()
