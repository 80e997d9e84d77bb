"""The invoice: the cheapest plan that fits and is in time, judged by feasibility, by its bill, and by what it costs
more than the best of the field; in the published cases, than the best that was measured."""

from functools import partial

from lockstep.checks.exercise import Comparison, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.arithmetic import Tried, arithmetic, drawn
from lockstep.exercises.hybrid.bills import NEAR, RIGHT, beside_the_best, none_left, often, published, rented, scaled
from lockstep.planner.offers import bill, parts, the_invoice
from lockstep.show import bill as figure

TRIED: Tried = {
    "Llama 3 8B": partial(rented, "llama3-8b", 1536),
    "Llama 3 70B": partial(rented, "llama3-70b", 1536),
    "up to 1,024 H100s and 30 days": scaled,
    "ten times as many interruptions, an hour to restart": often,
    "64 A100s, as measured in 2021": published,
    "no plan that fits": none_left,
}


def examine(seen: Seen) -> Fault | None:
    """The first answer that isn't good enough; how near the others are earns a part."""
    calls, answers = drawn(TRIED, seen.case), seen.returned[0]
    rows = [beside_the_best(plans, job, answer) for (plans, job), answer in zip(calls, answers, strict=True)]
    wrong = [told for regret, told in rows if regret > RIGHT]
    if not wrong:
        return None
    earned = sum(1.0 if regret <= RIGHT else 0.5 * (regret <= NEAR) for regret, _ in rows) / len(rows)
    return Fault("wrong-values", f"With {seen.case}: {wrong[0]}", earned=earned)


def alike(seen: Seen) -> list[object]:
    """Plans, days and dollars up to rounding."""
    answers = (answer if isinstance(answer, list) else [answer] for answer in seen.returned[0])
    return [[f"{x:.8g}" if isinstance(x, float) else x for x in answer] for answer in answers]


def picture(seen: Seen) -> str:
    """Both bills of the first order: the learner's plan and the best one."""
    (plans, job), answer = drawn(TRIED, seen.case)[0], seen.returned[0][0] if seen.returned else None
    best = the_invoice(plans, job)
    number = answer[0] if isinstance(answer, list) and answer else None
    if best is None or type(number) is not int or not 0 <= number < len(plans):
        return ""
    bills = {}
    for name, at in (("your plan", number), ("the best", best[0])):
        bills[f"{name}, {plans[at]['gpus']:,} GPUs for {bill(plans[at], job)[0]:.1f} days"] = parts(plans[at], job)
    return figure.bill(bills, f"The bill: {seen.case}").svg()


EXERCISE = arithmetic(
    TRIED,
    number=4,
    title="The invoice",
    points=6,
    minutes=35,
    parameters="plans, job",
    reference="lockstep.planner.offers:the_invoice",
    right=lambda *call: None,
    values=Values(share=1.0, examine=examine, agrees=lambda answer, want: True),
    comparison=Comparison(alike=alike),
    run=Run(timeout=10.0),
    feedback=Feedback(picture=picture),
)
