"""What all figures have in common: they live where scripts run, and stand still everywhere else.

An output holds the still picture, as an image with its alternative text, and a script that puts the figure in its
place. No figure is a widget's view in the notebook's file: without its kernel that would be an error and no picture.
``docs/figures.md`` says what is shown where, and why.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, ClassVar
from uuid import uuid4

import anywidget
import traitlets

_HERE = files("lockstep.show")
LONG = 20_000  # characters of JSON: more is compressed


def script(*names: str) -> str:
    """The ES module of a figure: ``browser.js``, which all share, and then its own files. It needs no network."""
    return module(*(_HERE.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in names))


def module(*sources: str) -> str:
    """The same of a figure whose files stand elsewhere."""
    source = "\n".join((_HERE.joinpath("browser.js").read_text(encoding="utf-8"), *sources))
    return source.replace("export default { render };", "export default { initialize, render };")


def style() -> str:
    """The style sheet that all figures share; it follows JupyterLab's theme."""
    return _HERE.joinpath("figures.css").read_text(encoding="utf-8")


def page(drawing: str, words: str, module: str, state: Mapping[str, Any] | None = None, key: str = "") -> str:
    """A figure as HTML that needs neither network nor kernel.

    ``drawing`` is its still picture, an SVG element; ``words`` are the alternative text. Where scripts run, ``module``
    (see ``script``) draws it from ``state``, JSON; with ``state=None`` it waits for the kernel's model
    ``key``, and stands still until there is one.
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
    """``state`` as an expression of JavaScript that can stand in a page."""
    text = json.dumps(state, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    if len(text) <= LONG:
        return text.replace("<", "\\u003c")
    packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return f'await unpacked("{packed}")'


def bundle(drawing: str, words: str, html: str) -> dict[str, str]:
    """What a notebook stores of a figure: the page, for programs without HTML the drawing, and for a terminal words."""
    return {"text/plain": words, "image/svg+xml": drawing, "text/html": html}


class Drawn:
    """A figure that needs no kernel: what it can show stands in its output.

    A subclass names its ``module`` and gives its ``state``; by default the drawing itself stands in the page, in the
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


class Figure(anywidget.AnyWidget):
    """A field that asks its kernel: a widget in the browser as long as the kernel is there, a still picture otherwise.

    A subclass sets ``_esm = script("its-file")``. Its model reaches the page beside the output (see ``initialize`` in
    ``browser.js``), so that no widget's view stands in the notebook's file.
    """

    _css = style()
    _key = traitlets.Unicode().tag(sync=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        key = uuid4().hex
        super().__init__(*args, _key=key, model_id=key, **kwargs)

    def svg(self) -> str:
        """The figure without a browser: one SVG element, with title and description."""
        raise NotImplementedError

    def caption(self) -> str:
        """The figure in a sentence: its alternative text."""
        raise NotImplementedError

    def html(self) -> str:
        """The figure for a page, live as long as its kernel is."""
        return page(self.svg(), self.caption(), str(self._esm), key=self._key)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return bundle(self.svg(), self.caption(), self.html()), {}
