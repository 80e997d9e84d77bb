"""Who computes what, when? A drawing is legal or not, trains a model if it is, and is as short as can be or longer."""

from typing import Any

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.observe import Ungraded
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import Tried, arithmetic, drawn
from lockstep.pipeline.drawn_schedule import Rows, best_slots, illegal, slots
from lockstep.pipeline.drawn_schedule import told as told_rule
from lockstep.pipeline.drawn_training import trained
from lockstep.pipeline.wasted_slots import wasted
from lockstep.show.pipeline_svg import draw_rows as draw

SIZES = ((3, 2, 1), (3, 4, 4), (4, 6, 4), (4, 6, 3))  # stages, micro-batches, cap
TRIED: Tried = {f"p = {p}, m = {m} and cap = {cap}": [(p, m, cap)] for p, m, cap in SIZES}
NEAR, TO_THE_BIT = 1.1, 1e-5  # times the fewest slots; weights trained in another order of sums


def rows_of(answer: Any, stages: int) -> Rows | str:
    """The drawing, or what is wanted in its place."""
    if not isinstance(answer, list) or len(answer) != stages:
        return f"{told(answer)}; a list of {stages} rows is wanted, one for each stage"
    for stage, row in enumerate(answer):
        if not isinstance(row, list):
            return f"{told(row)} as row {stage}; a list of cells is wanted, such as 'F0' or '..'"
        for slot, cell in enumerate(row):
            if not isinstance(cell, str):
                return f"{told(cell)} in row {stage}, slot {slot}; a text such as 'F0', 'B0' or '..' is wanted"
    return answer


def examine(seen: Seen) -> Fault | None:
    """A legal drawing is carried out. Half of its points are for that, the others for being short."""
    (call,), (answer,) = drawn(TRIED, seen.case), seen.returned[0]
    rows, name = rows_of(answer, call[0]), f"draw_the_schedule{call}"
    if isinstance(rows, str):
        return Fault("wrong-type", f"{name} returns {rows}.")
    if broken := illegal(rows, *call[1:]):
        return Fault("wrong-values", f"{name} breaks {told_rule(broken)}.", telling=True)
    if trained(rows).apart > TO_THE_BIT:
        raise Ungraded(f"{name} is legal, and ranks that follow it train other weights than one rank does.")
    took, best = slots(rows), best_slots(*call)
    if took <= best:
        return None
    first = wasted(rows, [call[2]] * call[0])
    longer = f"{name} is legal, and takes {took} slots; {best} are possible.{f' {first}' if first else ''}"
    return Fault("wrong-values", longer, earned=0.75 if took <= NEAR * best else 0.5)


def picture(seen: Seen) -> str:
    """The drawing, and what it has trained."""
    (call,), (answer,) = drawn(TRIED, seen.case), seen.returned[0]
    rows = rows_of(answer, call[0])
    if isinstance(rows, str) or illegal(rows, *call[1:]):
        return ""
    losses = trained(rows).losses
    return draw(rows, f"On {call[0]} ranks the loss went from {losses[0]:.3f} to {losses[-1]:.3f}, as on one rank.")


EXERCISE = arithmetic(
    TRIED,
    number=1,
    title="Draw the schedule",
    points=4,
    minutes=25,
    parameters="stages, micro_batches, cap",
    reference="lockstep.pipeline.drawn_schedule:drawing",
    right=lambda *call: None,
    values=Values(share=1.0, examine=examine, agrees=lambda answer, want: True),
    feedback=Feedback(picture=picture),
)
