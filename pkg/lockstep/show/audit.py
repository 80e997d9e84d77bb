"""audit(): what each estimator's CPU time does when one knob is turned up. One row an estimator, one bar a knob."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.classical.audit.table import COLUMNS, NAMES, kind
from lockstep.classical.audit.verdict import Verdict
from lockstep.show import svg

COLOURS = {"openmp": "#0072B2", "blas": "#D55E00", "n_jobs": "#009E73"}
TITLES = {"openmp": "OpenMP", "blas": "BLAS", "n_jobs": "n_jobs"}
WIDTH, NAME, LEFT, BAR, GAP, TOP, PITCH = 860.0, 20.0, 236.0, 84.0, 14.0, 74.0, 22.0
KIND = LEFT + 3 * (BAR + GAP) + 6


class AuditFigure:
    """The audit's table as a picture: ``svg()``, and a sentence for those who do not see it, ``caption()``."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = tuple(verdicts)

    def svg(self) -> str:
        return drawn(self.verdicts)

    def caption(self) -> str:
        return words(self.verdicts)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return self.caption()


def audit(verdicts: Sequence[Verdict]) -> AuditFigure:
    """The figure of what ``lockstep.classical.audit.audit()`` measured."""
    return AuditFigure(verdicts)


def drawn(verdicts: Sequence[Verdict]) -> str:
    """The whole figure as one SVG element."""
    body = [
        svg.text(NAME, 26, "Who does the work when one knob is at 2?", 14, font_weight=600),
        svg.faint(
            NAME, 45, "Each bar is the share of the CPU time that other threads or processes took over.",
                  12),
        *_columns(len(verdicts)),
        *(part for at, verdict in enumerate(verdicts) for part in _row(verdict, TOP + PITCH * at)),
    ]  # fmt: skip
    height = TOP + PITCH * len(verdicts) + 16
    return svg.document(WIDTH, height, "Audit of scikit-learn's parallelism", words(verdicts), body)


def words(verdicts: Sequence[Verdict]) -> str:
    """Every row in a few words."""
    return "; ".join(f"{v.name}: {kind(v)}" for v in verdicts) + "."


def _columns(rows: int) -> Iterator[str]:
    for at, knob in enumerate(COLUMNS):
        yield svg.text(_x(at), TOP - 8, TITLES[knob], 11.5, fill=COLOURS[knob], font_weight=600)
    yield svg.faint(KIND, TOP - 8, "runs in parallel by", 11.5)


def _row(verdict: Verdict, y: float) -> Iterator[str]:
    yield svg.text(NAME, y + 13, verdict.name, 12)
    for at, knob in enumerate(COLUMNS):
        if knob in verdict.shares:
            yield from _bar(_x(at), y, verdict.shares[knob], knob)
        else:
            yield svg.faint(_x(at), y + 13, "no such knob", 9.5)
    serial = verdict.kind == "serial"
    told = svg.faint if serial else svg.text
    yield told(KIND, y + 13, NAMES["serial"] if serial else kind(verdict), 12)
    claimed = verdict.claim_holds
    if claimed is not None:
        mark = "notes right" if claimed else "notes wrong"
        yield svg.text(WIDTH - 16, y + 13, mark, 11, text_anchor="end", font_weight=400 if claimed else 700)


def _bar(x: float, y: float, share: float, knob: str) -> Iterator[str]:
    yield svg.lane(x, y + 3, BAR, PITCH - 8)
    if share > 0.005:
        name = svg.title(f"{TITLES[knob]}: {100 * share:.0f} % taken over")
        yield svg.element(
            "rect", name, x=x, y=y + 3, width=min(1.0, share) * BAR, height=PITCH - 8, rx=2, fill=COLOURS[knob]
        )


def _x(column: int) -> float:
    return LEFT + column * (BAR + GAP)
