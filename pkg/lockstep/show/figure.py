"""What all figures have in common: they are live where scripts run, and still pictures everywhere else.
A figure that asks its kernel is a ``widget``.

An output holds the still picture, as an image with its alternative text, and a script that puts the figure in its
place. No figure is a widget's view in the notebook's file: without its kernel that would be an error and no picture.
``docs/figures.md`` says what is shown where, and why.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, ClassVar
from xml.etree import ElementTree

_HERE = files("lockstep.show")
LONG = 20_000  # characters of JSON: more is compressed


def script(*names: str) -> str:
    """The ES module of a figure: ``browser.js``, which all share, and then its own files. It needs no network."""
    return module(*(_HERE.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in names))


def module(*sources: str) -> str:
    """The same of a figure whose files are in another package."""
    source = "\n".join((_HERE.joinpath("browser.js").read_text(encoding="utf-8"), *sources))
    return source.replace("export default { render };", "export default { initialize, render };")


def style() -> str:
    """The style sheet that all figures share; it follows JupyterLab's theme."""
    return _HERE.joinpath("figures.css").read_text(encoding="utf-8")


def page(drawing: str, words: str, module: str, state: Mapping[str, Any] | None = None, key: str = "") -> str:
    """A figure as HTML that needs neither network nor kernel.

    ``drawing`` is its still picture, an SVG element; ``words`` are the alternative text. Where scripts run, ``module``
    (see ``script``) draws it from ``state``, JSON; with ``state=None`` it waits for the kernel's model
    ``key``, and shows the still picture until there is one.
    """
    written = "null" if state is None else _written(state)
    key = key or sha256(f"{drawing}{module}{written}".encode()).hexdigest()[:16]
    image = base64.b64encode(drawing.encode()).decode()
    return (
        f'<div class="ls-place ls-{key}"><img class="ls-still" style="max-width:100%;height:auto" '
        f'alt="{escape(words)}" src="data:image/svg+xml;base64,{image}"></div>'
        f'<style>{style()}</style><script type="module">{module}\nlive(render, "{key}", {written});</script>'
    )


def _written(state: Mapping[str, Any]) -> str:
    """``state`` as an expression of JavaScript that is safe inside a page."""
    text = json.dumps(state, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    if len(text) <= LONG:
        return text.replace("<", "\\u003c")
    packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return f'await unpacked("{packed}")'


def bundle(drawing: str, words: str, html: str) -> dict[str, str]:
    """What a notebook stores of a figure: the page, for programs without HTML the drawing, and for a terminal words."""
    return {"text/plain": words, "image/svg+xml": drawing, "text/html": html}


class Drawn:
    """A figure that needs no kernel: all that it can show is in its output.

    A subclass names its ``module`` and gives its ``state``; by default the page has the drawing itself, in the
    page's colours.
    """

    module: ClassVar[str] = script("picture")

    def svg(self) -> str:
        """The figure without a browser: one SVG element, with title and description."""
        raise NotImplementedError

    def caption(self) -> str:
        """The alternative text: what it is, and what to take away."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """What the module draws from, as JSON, besides ``drawing``, which is the still picture."""
        return {}

    def html(self) -> str:
        """The figure for a page: see ``page``."""
        return page(self.svg(), self.caption(), self.module, self.state())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return bundle(self.svg(), self.caption(), self.html())

    def __repr__(self) -> str:
        return self.caption()


@dataclass(frozen=True, repr=False)
class Picture(Drawn):
    """A figure that does not move. ``drawing`` is an SVG document; ``words`` say it in a sentence or two."""

    drawing: str
    words: str

    @classmethod
    def of(cls, drawing: str) -> Picture:
        """A drawing made by ``svg.document``: its title and description become the words."""
        said = (ElementTree.fromstring(drawing).findtext(f"{{*}}{part}", "") for part in ("title", "desc"))
        return cls(drawing, ". ".join(filter(None, said)))

    def svg(self) -> str:
        return self.drawing

    def caption(self) -> str:
        return self.words
