"""Arguments that a function should leave as they were, and its exercise's exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lockstep.checks.argument_changes import Change, What
from lockstep.checks.calls import told_call
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen

TOLD: Mapping[What, str] = {
    "type": "{who} turns {name} into something of another type. Leave it as it was.",
    "length": "{who} changes the length of {name}. Work on a copy.",
    "order": "{who} changes the order of {name}. Sort or shuffle a copy.",
    "shape": "{who} changes the shape of {name}. Leave it as it was.",
    "values": "{who} changes its argument {name}. Leave it as it was.",
    "requires_grad": "{who} leaves `requires_grad` of {name} another than it was. Set it on a tensor of your own: "
    "{name}.detach().requires_grad_() shares the numbers, but not the flag.",
    "gradient": "{who} leaves another gradient in {name}: its `.grad` should be as it was. torch.autograd.grad gives "
    "gradients without writing them there.",
    "hooks": "{who} leaves a hook on {name}. Remove it, with the `remove()` of what registered it.",
    "mode": "{who} leaves {name} in another mode: `training` should be as it was.",
    "shared": "{who} returns memory of its argument {name}: who changes the result, changes {name}. Return a copy.",
}


SPOILS: tuple[What, ...] = ("type", "length", "order", "shape", "values", "gradient")


def spoilt(exercise: Exercise, seen: Seen) -> Fault | None:
    """The first change to what an argument is, which may well be why a result is wrong."""
    return changed(exercise, seen, SPOILS)


def changed(exercise: Exercise, seen: Seen, kinds: Sequence[What] = tuple(TOLD)) -> Fault | None:
    """The first change of these kinds to an argument that the exercise does not allow."""
    for at, change in not_allowed(exercise, seen):
        if change.what not in kinds:
            continue
        told = TOLD[change.what].format(who=_who(exercise, seen, at), name=_name(exercise, change))
        return Fault("changes-arguments", f"With {seen.case}: {told}", telling=change.what in SPOILS)
    return None


def not_allowed(exercise: Exercise, seen: Seen) -> Iterator[tuple[int, Change]]:
    """The rank, or the number of the call, and the change."""
    for at, found in enumerate(seen.changes):
        for change in found:
            if f"{_argument(exercise, change)}.{change.what}" not in exercise.values.may_change:
                yield at, change


def _who(exercise: Exercise, seen: Seen, at: int) -> str:
    if not exercise.pure:
        return f"rank {at}"
    return told_call(exercise, exercise.inputs(seen.case, 0)[at]) or exercise.function


def _argument(exercise: Exercise, change: Change) -> str:
    names = [name.partition("=")[0] for name in exercise.parameters.split(", ")]
    if isinstance(change.argument, int) and change.argument < len(names):
        return names[change.argument]
    return f"number {change.argument}"


def _name(exercise: Exercise, change: Change) -> str:
    return f"{_argument(exercise, change)}{change.path}"
