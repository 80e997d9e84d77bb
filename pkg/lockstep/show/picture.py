"""A figure that needs no browser code: one SVG, with its sentence for those who do not see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    """``drawing`` is an SVG document; ``words`` say it in a sentence or two."""

    drawing: str
    words: str

    def svg(self) -> str:
        return self.drawing

    def caption(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": self.words, "image/svg+xml": self.drawing}

    def _repr_svg_(self) -> str:
        return self.drawing
