"""roofline(): kernels under the roofs of a machine; point at one to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.show import roofline_svg
from lockstep.show.figure import Drawn, script
from lockstep.show.roofline_model import Roofline, placed


class RooflineFigure(Drawn):
    """The drawing, and what the pointer reads on it. See ``roofline``."""

    module = script("roofline")

    def __init__(self, model: Roofline) -> None:
        self.model = model

    def state(self) -> dict[str, Any]:
        return {"facts": _readable(self.model)}

    def caption(self) -> str:
        return f"Roofline. {roofline_svg.words(self.model)}"

    def svg(self) -> str:
        return roofline_svg.draw(self.model)


def roofline(
    peak: float, bandwidths: float | Mapping[str, float], kernels: Mapping[str, Sequence[Any]] | None = None
) -> RooflineFigure:
    """Draw ``kernels`` under their roofs.

    ``peak``: FLOP/s. ``bandwidths``: bytes/s of the memory, or of several places by name. ``kernels``: name → (flops,
    nbytes), or (flops, nbytes, seconds) for one that was measured, and after these the name of the place where its data
    lie, by default the slowest. Raises UsageError for values without sense.
    """
    slopes = bandwidths if isinstance(bandwidths, Mapping) else {"memory": bandwidths}
    return RooflineFigure(Roofline(peak, dict(slopes), placed(kernels or {})))


def _readable(model: Roofline) -> dict[str, Any]:
    """What the pointer reads: the roofs, a sentence for each kernel, and where the axes are on the drawing."""
    return {
        "told": [roofline_svg.told(model, kernel) for kernel in model.kernels],
        "peak": model.peak,
        "bandwidth": model.bandwidths[model.memory],
        "memory": model.memory,
        "intensities": list(model.intensities),
        "area": [roofline_svg.LEFT, roofline_svg.RIGHT, roofline_svg.TOP, roofline_svg.BOTTOM],
    }
