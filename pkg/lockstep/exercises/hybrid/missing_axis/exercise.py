"""Rows of published tables with a gap: what follows by one rule, by three, or not."""

from typing import Any

from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.numbers import exact
from lockstep.exercises.arithmetic import Tried, arithmetic, whole
from lockstep.exercises.hybrid import rows_with_a_gap as gaps
from lockstep.planner.missing_axis import RULES

TRIED: Tried = {
    "rows of Megatron-LM, 2021": gaps.megatron,
    "rows of Llama 3": gaps.llama,
    "rows with experts": gaps.with_experts,
    "rows with sequences that are cut": gaps.cut_sequences,
    "gaps that take two rules": gaps.two_rules,
    "gaps that take three rules": gaps.three_rules,
    "gaps that don't follow": gaps.does_not_follow,
    "one GPU": gaps.one_gpu,
}


def steps(row: Any) -> str:
    rules = [f"{whole} = {'·'.join(f'{key} ({row[key]})' for key in parts)}" for whole, parts in RULES.items()]
    wholes = ", ".join(f"{whole} is {row[whole]}" for whole in RULES)
    return f"{'; '.join(rules)}; {wholes}."


def told(call: Any) -> str:
    """The call, without what isn't known."""
    known = {key: value for key, value in call[0].items() if value is not None}
    return f"missing_axis({known})"


EXERCISE = arithmetic(
    TRIED, trivial=("one GPU",), number=11, core=False, title="What the table leaves out", points=3, minutes=25,
    parameters="row", reference="lockstep.planner.missing_axis:missing_axis", values=Values(share=0.75, agrees=exact),
    costs=Costs(economise=whole),
    feedback=Feedback(answer="a whole number, or None", none_means="that it doesn't follow", steps=steps, call=told),
)  # fmt: skip
