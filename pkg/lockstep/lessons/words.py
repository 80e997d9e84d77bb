"""The base class of figures that consist of words: a widget in the browser, elsewhere text as a still picture."""

from __future__ import annotations

from importlib.resources import files

import traitlets

from lockstep.show import figure, svg
from lockstep.show.widget import Figure

LEFT, LINE, SIZE = 14.0, 19.0, 13.0
MARKS = {"right": "✓", "wrong": "✗", "told": "→"}  # beside a verdict, whose words say the same
COLOURS = {"right": "#117733", "wrong": "#b35900", "told": "#666677"}  # of its bar, as below a lab's check
_HERE = files("lockstep.lessons")


def module(name: str) -> str:
    """The ES module of a figure of this package, with what all figures share before it."""
    return figure.module(_HERE.joinpath(f"{name}.js").read_text(encoding="utf-8"))


class Words(Figure):
    """Its static form is ``paragraphs()``, the first in bold. One of them may be a verdict: ``judged()``, with a bar
    and a mark by ``state``."""

    state = traitlets.Unicode("").tag(sync=True)  # "right", "wrong", "told" (the answer was shown), or "" before

    def paragraphs(self) -> list[str]:
        raise NotImplementedError

    def judged(self) -> str:
        return ""

    def caption(self) -> str:
        return " ".join(self.paragraphs())

    def svg(self) -> str:
        body: list[str] = []
        y, weight = 28.0, 600
        for paragraph in self.paragraphs():
            mark = MARKS.get(self.state, "") if paragraph == self.judged() else ""
            lines = svg.wrapped(f"{mark} {paragraph}".strip(), svg.WIDTH - 2 * LEFT, SIZE)
            if mark:
                height, colour = LINE * len(lines), COLOURS[self.state]
                body.append(svg.element("rect", x=2, y=y - 14, width=4, height=height, fill=colour))
            body += [svg.text(LEFT, y + LINE * i, line, SIZE, font_weight=weight) for i, line in enumerate(lines)]
            y, weight = y + LINE * len(lines), 400
        return svg.document(svg.WIDTH, y, " ".join(self.paragraphs()[:1]), self.caption(), body)
