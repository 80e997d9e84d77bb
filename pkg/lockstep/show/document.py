"""A figure as an HTML file of its own: it needs no network, no kernel and no Jupyter."""

from __future__ import annotations

from html import escape
from pathlib import Path

from lockstep.errors import UsageError
from lockstep.show.figure import Drawn

OURS = '<meta name="generator" content="lockstep show">'
STYLE = """
body { margin: 24px; font: 14px/1.5 system-ui, sans-serif; color: #1f2328; background: #fff; }
pre { overflow-x: auto; font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; }
.ls-place .ls-figure { max-width: none; }
"""


def document(title: str, figure: Drawn, text: str) -> str:
    """The page: ``figure``, and below it ``text`` as a terminal shows it."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{OURS}<title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{figure.html()}\n"
        f"<pre>{escape(text)}</pre></body></html>\n"
    )


def is_ours(file: Path) -> bool:
    with open(file, encoding="utf-8", errors="replace") as begun:
        return OURS in begun.read(1000)


def save(page: str, file: Path) -> None:
    """Write a page to ``file``. Raises UsageError where that cannot be, or where there is a file of somebody else's."""
    try:
        if file.exists() and not is_ours(file):
            raise UsageError(
                f"{file} is there already, and is no page of lockstep show.", "Name another: --html NEW.html."
            )
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The page cannot be written to {file}: {error.strerror}.", "Name a file: --html FILE.html."
        ) from None
