"""The address of JupyterLab, last and by itself: an extension of the server that ``lockstep lab`` starts.

Jupyter logs its address between other lines, and more come after it. ``course/.jupyter`` switches this extension on.
"""

from __future__ import annotations

from typing import Any

from lockstep.cli.lab import under_a_hub

LINE = "─" * 72


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "lockstep.cli.address"}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Have the address printed once the server runs. It says the token only if Jupyter has made that, and so do we:
    of one that was not made, Jupyter prints no address of its own."""
    if under_a_hub():
        return
    provider = server.identity_provider
    made, provider.token_generated = provider.token_generated, False

    def tell() -> None:
        provider.token_generated = made
        print(framed(address(server)), flush=True)

    server.io_loop.add_callback(tell)


def address(server: Any) -> str:
    """The one to open on this machine; where the server listens for others, the one for them."""
    local = server.ip in ("", "localhost", "127.0.0.1")
    return str(server.local_url if local else server.public_url)


def framed(address: str) -> str:
    """Between two lines and not in a box: an address that is longer than its line can still be clicked."""
    return f"{LINE}\nLockstep is open here (Ctrl+C stops it):\n\n{address}\n{LINE}"
