"""losses_of_twelve(): where the loss of each of twelve programs began, and where it was after 20 steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.show import palette, quantities, svg
from lockstep.show.figure import Picture
from lockstep.tensor_parallel.recorded import Loss, losses

LEFT, RIGHT, TOP, PITCH = 240.0, 432.0, 66.0, 22.0
RIGHT_ONE, WRONG_ONE = palette.ROLES["right"], palette.ROLES["wrong"]
NAME = "Twelve programs, twelve losses that fall"


def losses_of_twelve() -> Picture:
    """An arrow for each program, from its first loss to the mean of its last five, the lowest above. The runs are the
    course's file's (``tensor_parallel.recorded``)."""
    rows = sorted(losses(), key=lambda row: row.last)
    bottom = TOP + PITCH * len(rows)
    body = [
        svg.text(14, 26, NAME, 14, font_weight=600),
        svg.faint(14, 48, "From the first loss, right, to that after 20 steps, left: the lowest stands first."),
        *_axis(bottom),
        *(part for i, row in enumerate(rows) for part in _arrow(row, TOP + PITCH * i)),
    ]
    return Picture(svg.document(svg.WIDTH, bottom + 44, NAME, words(rows), body), f"{NAME}. {words(rows)}")


def words(rows: Sequence[Loss]) -> str:
    told = ", ".join(f"{_name(row)} ({_verdict(row)}) {row.last:.3f}" for row in rows)
    return f"The loss after 20 steps, the lowest first: {told}. All began between 4.7 and 5."


def _name(row: Loss) -> str:
    return row.program.replace("_", " ")


def _verdict(row: Loss) -> str:
    return "right" if row.right else "wrong"


def _x(loss: float) -> float:
    return RIGHT - (RIGHT - LEFT) * (5.0 - loss) / 1.75


def _axis(bottom: float) -> Iterator[str]:
    yield svg.line(LEFT, bottom + 4, RIGHT, bottom + 4, stroke=palette.FAINT)
    for tick in quantities.ticks(3.25, 5.0, 4):
        yield svg.line(_x(tick), bottom + 4, _x(tick), bottom + 8, stroke=palette.FAINT)
        yield svg.faint(_x(tick), bottom + 22, f"{tick:g}", text_anchor="middle")
    yield svg.faint(LEFT - 12, bottom + 22, "loss", text_anchor="end")


def _arrow(row: Loss, y: float) -> Iterator[str]:
    colour = RIGHT_ONE if row.right else WRONG_ONE
    yield svg.lane(LEFT, y, RIGHT - LEFT, PITCH - 5)
    yield svg.text(14, y + 13, _name(row), font_weight=600 if row.right else None)
    told = svg.title(f"{_name(row)}, {_verdict(row)}: {row.first:.3f} to {row.last:.3f}")
    drawn = svg.arrow(_x(row.first), y + 8.5, _x(row.last), y + 8.5, head=8, fill=colour, stroke_width=2.5)
    yield svg.element("g", told, drawn)
    yield svg.text(LEFT - 10, y + 13, f"{row.last:.3f}", text_anchor="end")
    yield svg.text(RIGHT + 8, y + 13, f"{row.first:.3f}")
    yield svg.text(RIGHT + 54, y + 13, _verdict(row), font_weight=600)
