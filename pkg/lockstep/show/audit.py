"""audit(): what each estimator's CPU time does when one knob is turned up. One row an estimator, one bar a knob."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.classical.audit.table import COLUMNS, NAMES, kind
from lockstep.classical.audit.verdict import Verdict
from lockstep.show import palette, svg
from lockstep.show.figure import Picture

TITLES = {"openmp": "OpenMP", "blas": "BLAS", "n_jobs": "n_jobs"}
WIDTH, NAME, LEFT, BAR, GAP, TOP, PITCH = svg.WIDTH, 10.0, 180.0, 44.0, 20.0, 92.0, 22.0
KIND = LEFT + 3 * (BAR + GAP) + 2


def audit(verdicts: Sequence[Verdict]) -> Picture:
    """The figure of what ``lockstep.classical.audit.audit()`` measured."""
    return Picture(drawn(verdicts), words(verdicts))


def drawn(verdicts: Sequence[Verdict]) -> str:
    """The whole figure as one SVG element."""
    body = [
        svg.text(NAME, 26, "Who does the work when one knob is at 2?", 14, font_weight=600),
        svg.faint(NAME, 45, "Each bar is the share of the CPU time that other threads"),
        svg.faint(NAME, 62, "or processes took over."),
        *_columns(len(verdicts)),
        *(part for at, verdict in enumerate(verdicts) for part in _row(verdict, TOP + PITCH * at)),
    ]  # fmt: skip
    height = TOP + PITCH * len(verdicts) + 16
    return svg.document(WIDTH, height, "Audit of scikit-learn's parallelism", words(verdicts), body)


def words(verdicts: Sequence[Verdict]) -> str:
    """Every row in a few words."""
    told = "; ".join(f"{v.name}: {kind(v)}" for v in verdicts)
    return f"Who runs in parallel, by which knob. {told}."


def _columns(rows: int) -> Iterator[str]:
    for at, knob in enumerate(COLUMNS):
        yield svg.text(_x(at), TOP - 8, TITLES[knob], font_weight=600)
    yield svg.faint(KIND, TOP - 8, "by")
    yield svg.faint(WIDTH - 10, TOP - 8, "the claim", text_anchor="end")


def _row(verdict: Verdict, y: float) -> Iterator[str]:
    yield svg.named(NAME, y + 13, verdict.name, LEFT - NAME - 8)
    for at, knob in enumerate(COLUMNS):
        if knob in verdict.shares:
            yield from _bar(_x(at), y, verdict.shares[knob], knob)
        else:
            yield svg.faint(_x(at) + BAR / 2, y + 13, "–", text_anchor="middle")
    serial = verdict.kind == "serial"
    told = svg.faint if serial else svg.text
    yield told(KIND, y + 13, NAMES["serial"] if serial else kind(verdict))
    claimed = verdict.claim_holds
    if claimed is not None:
        mark = "holds" if claimed else "differs"
        yield svg.text(WIDTH - 10, y + 13, mark, text_anchor="end", font_weight=400 if claimed else 700)


def _bar(x: float, y: float, share: float, knob: str) -> Iterator[str]:
    yield svg.lane(x, y + 3, BAR, PITCH - 8)
    if share > 0.005:
        name = svg.title(f"{TITLES[knob]}: {100 * share:.0f} % taken over")
        whole = min(1.0, share)
        yield svg.bar(x, y + 3, whole * BAR, PITCH - 8, whole, name, rx=2, fill=palette.ROLES["measured"])


def _x(column: int) -> float:
    return LEFT + column * (BAR + GAP)
