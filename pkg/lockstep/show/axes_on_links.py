"""axes_on_links(): three axes of parallelism on two kinds of links; the learner drags the one that runs between nodes.

Every placement was simulated ahead: the figure lives without a kernel. Its still picture has the first placement, and
the time of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lockstep.errors import UsageError
from lockstep.show import palette, quantities, svg
from lockstep.show.figure import Drawn, script

AXES = ("dp", "tp", "pp")
LINKS = ("NVLink", "network")
_OF = palette.COLOURS
COLOURS = {
    "compute": _OF["compute"], "dp": _OF["reduce_scatter"], "tp": _OF["all_reduce"], "pp": _OF["send"],
    "bubble": _OF["broadcast"],
}  # fmt: skip
WORDS = {"compute": "computing", "dp": "dp", "tp": "tp", "pp": "pp", "bubble": "waiting for other stages"}
EDGE, FROM, TO, BAR = 14.0, 176.0, 448.0, 17.0
HEIGHT = 402.0
NODE, NODE_TOP, NODE_HEIGHT = 200.0, 46.0, 124.0
GPU = (52.0, 26.0)


class Placement(NamedTuple):
    """A step of ``job`` with the groups of the axis ``across`` between two nodes, and those of the others inside them.
    ``sent``: bytes that a rank sends on each axis; ``parts``: seconds of an average rank, which add up to the step."""

    job: str
    across: str
    sent: Mapping[str, float]
    parts: Mapping[str, float]

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


class AxesOnLinks(Drawn):
    """``placed``: every job with each of the axes across. See ``axes_on_links``."""

    module = script("axes_on_links")
    label = "Axes on links"

    def __init__(self, placed: Sequence[Placement], across: str) -> None:
        self.by_job = {
            job: {p.across: p for p in placed if p.job == job} for job in dict.fromkeys(p.job for p in placed)
        }
        self.across = across

    def state(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "axes": AXES,
            "across": AXES.index(self.across),
            "jobs": list(self.by_job),
            "frames": [[draw(of, across) for across in AXES] for of in self.by_job.values()],
            "captions": [[words(of[across]) for across in AXES] for of in self.by_job.values()],
        }

    def svg(self) -> str:
        return draw(self._first, self.across)

    def caption(self) -> str:
        return f"{self.label}. {words(self._first[self.across])}"

    @property
    def _first(self) -> Mapping[str, Placement]:
        return next(iter(self.by_job.values()))


def axes_on_links(placed: Sequence[Placement], across: str = "pp") -> AxesOnLinks:
    """Drag an axis, or choose it by keyboard, to run it between the nodes; a slider chooses the job. Raises UsageError
    unless each job was placed with each of the axes across."""
    jobs = dict.fromkeys(p.job for p in placed)
    if not placed or any(not any((p.job, p.across) == (job, axis) for p in placed) for job in jobs for axis in AXES):
        raise UsageError("A placement is missing.", f"Give each job with each of {', '.join(AXES)} across.")
    if across not in AXES:
        raise UsageError(f"{across!r} is none of the axes.", f"Choose among {', '.join(AXES)}.")
    return AxesOnLinks(placed, across)


def words(p: Placement) -> str:
    sent = ", ".join(f"{axis} {quantities.nbytes(p.sent[axis])}" for axis in AXES)
    return f"{p.job}, {p.across} between the nodes: {quantities.seconds(p.seconds)} a step. A rank sends: {sent}."


def draw(of: Mapping[str, Placement], across: str) -> str:
    """A job's placements by axis; the one with ``across`` between the nodes stands out."""
    chosen = of[across]
    body = [
        svg.text(EDGE, 26, f"Between the nodes: {across}", 14, font_weight=600),
        *_nodes(across),
        *_bytes(chosen),
        *_times(of, across),
    ]
    return svg.document(svg.WIDTH, HEIGHT, "Axes on links", words(chosen), body)


def _nodes(across: str) -> Iterator[str]:
    """Two nodes of 2 x 2 GPUs: the inside axes join neighbours, the third one joins the nodes."""
    beside, below = (axis for axis in ("tp", "dp", "pp") if axis != across)
    yield svg.line(EDGE + NODE, 108, svg.WIDTH - EDGE - NODE, 108, stroke=COLOURS[across], stroke_width=7)
    middle = svg.WIDTH / 2
    yield svg.text(middle, 96, f"{across}, 4 pairs", text_anchor="middle", font_weight=600)
    yield svg.faint(middle, 130, "network", text_anchor="middle")
    for node in range(2):
        left = EDGE if node == 0 else svg.WIDTH - EDGE - NODE
        yield svg.element(
            "rect", x=left, y=NODE_TOP, width=NODE, height=NODE_HEIGHT, rx=6, fill=palette.LANE, class_="ls-lane"
        )
        yield svg.faint(left + 8, NODE_TOP + 15, f"node {node}, NVLink")
        xs, ys = (left + 20, left + NODE - 20 - GPU[0]), (NODE_TOP + 26, NODE_TOP + 86)
        for y in ys:
            yield svg.line(xs[0] + GPU[0], y + 13, xs[1], y + 13, stroke=COLOURS[beside], stroke_width=4)
        for x in xs:
            yield svg.line(x + 26, ys[0] + GPU[1], x + 26, ys[1], stroke=COLOURS[below], stroke_width=4)
        yield svg.text(left + NODE / 2, ys[0] + 8, beside, text_anchor="middle", font_weight=600)
        yield svg.text(xs[0] + 34, NODE_TOP + 73, below, font_weight=600)
        for n in range(4):
            yield svg.element(
                "rect", x=xs[n % 2], y=ys[n // 2], width=GPU[0], height=GPU[1], rx=4, fill=COLOURS["compute"]
            )
            told = f"rank {4 * node + n}"
            yield svg.text(
                xs[n % 2] + 26, ys[n // 2] + 17, told, text_anchor="middle", fill=palette.text_on(COLOURS["compute"])
            )


def _bytes(p: Placement) -> Iterator[str]:
    """What a rank sends by each kind of link, stacked by axis."""
    whole = sum(p.sent.values())
    yield svg.text(EDGE, 196, "A rank sends in a step", font_weight=600)
    for n, link in enumerate(LINKS):
        y, x, axes = 206 + 24 * n, FROM, [axis for axis in AXES if (axis == p.across) == (link == LINKS[1])]
        yield svg.text(EDGE, y + 13, f"by {link}: {', '.join(axes)}")
        for axis in axes:
            width = (TO - FROM) * p.sent[axis] / whole
            told = svg.title(f"{axis}: {quantities.nbytes(p.sent[axis])} by {link}")
            yield svg.bar(x, y, width, BAR, p.sent[axis] / whole, told, fill=COLOURS[axis])
            x += width
        yield svg.text(x + 6, y + 13, quantities.nbytes(sum(p.sent[axis] for axis in axes)))


def _times(of: Mapping[str, Placement], across: str) -> Iterator[str]:
    most = max(p.seconds for p in of.values())
    yield svg.text(EDGE, 282, "Time of a step", font_weight=600)
    for n, axis in enumerate(AXES):
        y, x, p = 292 + 24 * n, FROM, of[axis]
        look = {"font_weight": 600} if axis == across else {}
        yield svg.text(EDGE, y + 13, f"{axis} between nodes", **look)
        for part, colour in COLOURS.items():
            width = (TO - FROM) * max(0.0, p.parts[part]) / most
            told = svg.title(f"{WORDS[part]}: {quantities.seconds(p.parts[part])}")
            rim = {} if axis == across else {"fill_opacity": palette.PALE}
            yield svg.bar(x, y, width, BAR, max(0.0, p.parts[part]) / most, told, fill=colour, **rim)
            x += width
        yield svg.text(x + 6, y + 13, quantities.seconds(p.seconds), **look)
    yield from _key(388)


def _key(y: float) -> Iterator[str]:
    x = EDGE
    for part, colour in COLOURS.items():
        yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, fill=colour)
        yield svg.text(x + 17, y, WORDS[part])
        x += 17 + svg.length(WORDS[part]) + 18
