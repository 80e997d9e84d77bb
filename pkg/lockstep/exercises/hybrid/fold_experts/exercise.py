"""Experts in ranks that are there already: groups that lie across tensor groups, and several stages."""

from random import Random
from typing import Any

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.hybrid.expert_groups import fold_experts


def some(dice: Random) -> Calls:
    return [(2, 4, dice.choice((1, 3)), 4, 4 * dice.randint(1, 3)), (4, dice.choice((2, 6)), 2, 8, 16)]


TRIED: Tried = {
    "ep groups of several tensor groups": some,
    "ep groups inside a tensor group": [(4, 3, 1, 2, 6), (8, 2, 2, 4, 4), (6, 1, 2, 3, 3)],
    "ep groups of parts of tensor groups": [(3, 4, 1, 2, 4), (2, 6, 2, 3, 6), (4, 3, 1, 6, 6)],
    "ep that is dp, or tp": [(2, 4, 1, 4, 8), (4, 2, 2, 4, 4), (3, 3, 1, 3, 3)],
    "ep groups of a whole stage": [(2, 3, 2, 6, 12), (1, 4, 1, 4, 4)],
    "what doesn't divide": [(2, 3, 1, 4, 8), (2, 4, 1, 4, 6), (2, 4, 4, 16, 16), (2, 4, 1, 8, 4)],
    "ep = 1, or one rank": [(2, 2, 2, 1, 3), (1, 1, 3, 1, 2), (1, 1, 1, 1, 1)],
}
WHAT = ("the ep groups", "the copies", "the experts of the ranks")
ASKED = "a tuple of three lists of lists, or None, is wanted"


def examine(seen: Seen) -> Fault | None:
    """The first answer that is not right, and where."""
    for call, answer in zip(drawn(TRIED, seen.case), seen.returned[0], strict=True):
        want, named = fold_experts(*call), "fold_experts({}, {}, {}, {}, {})".format(*call)
        if answer is not None and not well_formed(answer):
            return Fault("wrong-type", f"{named} returns {told(answer)}; {ASKED}.", telling=True)
        if answer is None or want is None:
            if (answer is None) != (want is None):
                how = "None, but it works" if answer is None else "groups, but it doesn't work: None is wanted"
                sums = f"tp·dp is {call[0] * call[1]}, ep is {call[3]}, and there are {call[4]} experts"
                return Fault("wrong-values", f"With {seen.case}: {named} gives {how}: {sums}.")
            continue
        for what, held, right in zip(WHAT, answer, want, strict=True):
            if held != right:
                return Fault("wrong-values", f"With {seen.case}: of {named}, {what} are {apart(held, right)}.")
    return None


def well_formed(answer: Any) -> bool:
    lists = isinstance(answer, list) and len(answer) == 3 and all(isinstance(part, list) for part in answer)
    return lists and all(isinstance(row, list) and all(type(n) is int for n in row) for part in answer for row in part)


def apart(held: list[list[int]], right: list[list[int]]) -> str:
    """The first entry that differs; else how many there are."""
    at = next((i for i, (a, b) in enumerate(zip(held, right, strict=False)) if a != b), None)
    if at is None:
        return f"{counted(len(held), 'list')}, and should be {len(right)}"
    return f"wrong from entry {at} on: it is {held[at]!s:.60}, and should be {right[at]!s:.60}"


EXERCISE = arithmetic(
    TRIED, trivial=("ep = 1, or one rank",), number=9, core=False, title="Experts inside the grid", points=3,
    minutes=25,
    parameters="tp, dp, pp, ep, experts", reference="lockstep.hybrid.expert_groups:fold_experts",
    values=Values(share=1.0, examine=examine, agrees=lambda answer, want: True),
    feedback=Feedback(answer="a tuple of three lists, or None", none_means="it doesn't work"),
)  # fmt: skip
