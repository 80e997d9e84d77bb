"""A figure that consists of words: in the browser they can be acted on, elsewhere they are read."""

from __future__ import annotations

from importlib.resources import files

from lockstep.show import figure, svg
from lockstep.show.figure import Figure

LEFT, LINE, SIZE = 14.0, 19.0, 13.0
_HERE = files("lockstep.lessons")


def module(name: str) -> str:
    """The ES module of a figure of this package, with what all figures share before it."""
    return figure.module(_HERE.joinpath(f"{name}.js").read_text(encoding="utf-8"))


class Words(Figure):
    """Its static form is ``paragraphs()``, the first in bold."""

    def paragraphs(self) -> list[str]:
        raise NotImplementedError

    def caption(self) -> str:
        return " ".join(self.paragraphs())

    def svg(self) -> str:
        first, *rest = [svg.wrapped(p, svg.WIDTH - 2 * LEFT, SIZE) for p in self.paragraphs()]
        lines = [(line, 600) for line in first] + [(line, 400) for p in rest for line in p]
        body = [svg.text(LEFT, 28 + LINE * i, line, SIZE, font_weight=w) for i, (line, w) in enumerate(lines)]
        return svg.document(svg.WIDTH, 28 + LINE * len(lines), " ".join(first), self.caption(), body)
