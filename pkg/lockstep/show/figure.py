"""What all figures have in common: a widget in the browser, a static SVG everywhere else."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import anywidget

_HERE = files("lockstep.show")


def script(*names: str) -> str:
    """The ES module of a figure: ``browser.js``, which all share, and then its own files. It needs no network."""
    return "\n".join(_HERE.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in ("browser", *names))


def style() -> str:
    """The style sheet that all figures share; it follows JupyterLab's theme."""
    return _HERE.joinpath("figures.css").read_text(encoding="utf-8")


class Figure(anywidget.AnyWidget):
    """A widget that can also say itself in SVG and in words.

    A notebook stores all three: JupyterLab shows the widget; GitHub, nbconvert and feedback show the SVG.
    """

    _css = style()

    def svg(self) -> str:
        """The figure without a browser: one SVG element, with title and description."""
        raise NotImplementedError

    def caption(self) -> str:
        """The figure in a sentence."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        shown = super()._repr_mimebundle_(**kwargs)
        data, metadata = shown if isinstance(shown, tuple) else (shown or {}, {})
        return data | {"text/plain": self.caption(), "image/svg+xml": self.svg()}, metadata

    def _repr_svg_(self) -> str:
        return self.svg()
