"""After a failed sign-in the next one waits, longer each time: guessing a password takes years, a typo seconds."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from typing import Any

from tornado.web import HTTPError

Key = tuple[str, str]  # ("name", "alice"), ("address", "192.0.2.7")

FREE = {"name": 5, "address": 20}  # failures in a row that cost nothing; a class may share an address
FIRST = 4.0  # seconds; Linux itself takes some 3 to say no, and then the next costs twice as much
LONGEST = 30.0
REMEMBERED = 600.0  # seconds without a failure, after which all is forgiven
MOST = 10_000  # names and addresses; anybody can make them up


class Failures:
    """How often in a row it failed, by name and by address. An attempt counts as failed until it has succeeded: many at
    once are no way round."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[Key, tuple[int, float]] = {}  # the latest last

    def wait(self, *keys: Key) -> float:
        """Seconds until the next attempt is looked at; 0 if it may come now."""
        return max(self._wait(key) for key in keys)

    def _wait(self, key: Key) -> float:
        count, last = self._known.get(key, (0, 0.0))
        since = self._clock() - last
        over = count - FREE[key[0]]
        return 0.0 if over < 0 or since > REMEMBERED else max(0.0, min(LONGEST, FIRST * 2 ** min(over, 10)) - since)

    def attempt(self, *keys: Key) -> None:
        now = self._clock()
        for key in keys:
            count, last = self._known.pop(key, (0, now))
            self._known[key] = (1 if now - last > REMEMBERED else count + 1, now)
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]

    def success(self, *keys: Key) -> None:
        for key in keys:
            self._known.pop(key, None)


def slowed(authenticator: type[Any], failures: Failures) -> type[Any]:
    """This JupyterHub authenticator, slowed. It asks nothing about names that are not on the hub's list: else root's
    password could be tried here, though root cannot sign in."""

    async def authenticate(self: Any, handler: Any, data: dict[str, str]) -> Any:
        name = self.normalize_username(data.get("username", ""))
        keys = (("name", name), ("address", handler.request.remote_ip))
        seconds = failures.wait(*keys)
        if seconds:
            wait = f"{math.ceil(seconds)} second{'' if seconds <= 1 else 's'}"
            raise HTTPError(429, f"Too many attempts have failed. Wait {wait}, then try again.")
        failures.attempt(*keys)
        listed = name not in self.blocked_users and (self.allow_all or name in self.allowed_users)
        if not listed or not data.get("password"):
            return None
        user = authenticator.authenticate(self, handler, data | {"username": name})  # Linux knows Alice from alice
        user = await user if inspect.isawaitable(user) else user
        if user is not None:
            failures.success(*keys)
        return user

    return type(f"Slowed{authenticator.__name__}", (authenticator,), {"authenticate": authenticate})
