"""A figure that does not move: one SVG, with its sentence for those who do not see it."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

from lockstep.show.figure import Drawn


@dataclass(frozen=True, repr=False)
class Picture(Drawn):
    """``drawing`` is an SVG document; ``words`` say it in a sentence or two."""

    drawing: str
    words: str

    @classmethod
    def of(cls, drawing: str) -> Picture:
        """A drawing of ``svg.document``, which says itself in its title and description."""
        said = (ElementTree.fromstring(drawing).findtext(f"{{*}}{part}", "") for part in ("title", "desc"))
        return cls(drawing, ". ".join(filter(None, said)))

    def svg(self) -> str:
        return self.drawing

    def caption(self) -> str:
        return self.words
