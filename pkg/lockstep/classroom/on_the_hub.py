"""The board as a service of JupyterHub. The hub says who looks and who reports, so nobody needs a token, and nobody
has more than one learner.

The hub starts it with the variables JUPYTERHUB_…; docker/jupyterhub_config.py does where LOCKSTEP_BOARD_URL is set. A
learner's kernel reports with the token of its own server, which the hub knows. What is kept of a user is a hash of
their name with the journal's token: the file has no names.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from typing import Any
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated, UserNotAllowed
from tornado.web import Application, HTTPError

from lockstep.classroom.reception import Reception
from lockstep.classroom.web import application
from lockstep.errors import UsageError

NEEDED = ("JUPYTERHUB_API_TOKEN", "JUPYTERHUB_API_URL", "JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_SERVICE_URL")


class ByTheHub(HubOAuthenticated):  # type: ignore[misc]  # JupyterHub has no types
    """Goes before a ``web.Handler``: lets in whom the hub lets in, by the token of a report, or by signing in."""

    async def let_in(self: Any) -> None:
        user = await self.hub_auth.get_user(self, sync=False)
        if user is None:
            if self.request.method != "GET" or self.request.path.endswith("/state"):
                raise HTTPError(403, reason="The hub does not know who this is")
            self.redirect(self.get_login_url())
            return
        try:
            self.user = self.check_hub_user(user)
        except UserNotAllowed:
            raise HTTPError(403, reason="The hub does not let this user see the board") from None

    async def learner(self: Any, claimed: str) -> str:
        """The hub's user, whoever the report says it is."""
        return hashlib.sha256(f"{self.token}/{self.user['name']}".encode()).hexdigest()[:32]

    def who_answers(self: Any) -> tuple[str, bool]:
        token = self.xsrf_token
        return token.decode() if isinstance(token, bytes) else token, True


def service(reception: Reception, token: str, names: bool) -> tuple[Application, str, int]:
    """The board below the prefix that the hub has given it, and the address and port on which the hub's proxy looks
    for it. Raises UsageError where no hub has started this process."""
    missing = [name for name in NEEDED if not os.environ.get(name)]
    if missing:
        raise UsageError(
            f"No JupyterHub has started this board: {', '.join(missing)} is not set.",
            "Leave --hub out, or set LOCKSTEP_BOARD_URL for the hub (docs/board.md).",
        )
    prefix, at = os.environ["JUPYTERHUB_SERVICE_PREFIX"], urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    back = (prefix + "oauth_callback", HubOAuthCallbackHandler)
    app = application(reception, token, prefix, names, join="", mixed_in=(ByTheHub,), more=[back])
    app.settings["cookie_secret"] = secrets.token_bytes(32)  # whoever has signed in does so again after a restart
    local = at.hostname in ("127.0.0.1", "localhost", None)
    return app, "127.0.0.1" if local else "0.0.0.0", at.port or 80
