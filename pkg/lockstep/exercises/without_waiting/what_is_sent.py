"""Top-k with error feedback, judged: the new residuals, the means, and what a wrong element of them is made of."""

from collections.abc import Sequence

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Compared
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart, number
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import forgiven
from lockstep.checks.values import compare, first_wrong, told
from lockstep.checks.wording import counted, listed
from lockstep.exercises.without_waiting.totals import TIES, inputs, wanted


def examine(seen: Seen) -> Fault | None:
    held = [seen.returned[rank] for rank in seen.case.members]
    for rank, pair in zip(seen.case.members, held, strict=True):
        if not (isinstance(pair, list) and len(pair) == 2):
            asked = f"rank {rank} returns {told(pair)}; a pair (mean, residual) is wanted."
            return Fault("wrong-type", f"With {seen.case}, {asked}")
    for name, said, (mine, want, _) in zip(("new residual", "mean"), (of_total, of_sent), both(seen), strict=True):
        if fault := compare(seen, mine, want):
            place = first_wrong(mine, want) if fault.misconception == "wrong-values" else None
            aside = said(seen.case, *place, want) if place else ""
            return Fault(fault.misconception, f"{fault.message} This is the {name}.", aside)
    return not_the_same(seen, [mean for mean, _ in held])


def not_the_same(seen: Seen, means: Sequence[Tensor]) -> Fault | None:
    """Of ranks whose means are right but for rounding, and differ."""
    for rank, mean in zip(seen.case.members, means, strict=True):
        for at in (mean != means[0]).nonzero().flatten().tolist():
            mine, first = apart(mean[at].item(), means[0][at].item())
            told = f"element {at} of the mean is {first} on rank {seen.case.members[0]} and {mine} on rank {rank}."
            why = "Rounding depends on the order in which numbers are added: let all ranks add them in the same one."
            return Fault("means-differ", f"With {seen.case}: {told} {why}")
    return None


def both(seen: Seen) -> tuple[Compared, Compared]:
    """The new residuals and the means: as they are, as they should be, as given."""
    means, left = zip(*(seen.returned[rank] for rank in seen.case.members), strict=True)
    right, kept = zip(*wanted(seen.case, list(left)), strict=True)
    rounding = 1e-6 if seen.case.settings["dtype"] == "float32" else 1e-12
    near = [forgiven(mean, want, rounding) for mean, want in zip(means, right, strict=True)]
    given = [inputs(seen.case, rank)[1] for rank in seen.case.members]
    return (left, kept, given), (means, near, [None] * len(given))


def wrong_one(seen: Seen) -> Compared:
    residuals, means = both(seen)
    return residuals if compare(seen, *residuals[:2]) else means


def of_total(case: Case, n: int, at: int, want: Sequence[Tensor]) -> str:
    gradient, residual, k = inputs(case, case.members[n])
    total = gradient + residual
    parts = listed([number(value[at].item(), 6) for value in (gradient, residual)], "plus")
    among = "it is sent" if want[n][at] == 0 else "it stays"
    which = "one" if want[n][at] == 0 else "none"
    place = f"There rank {case.members[n]}'s total is {parts}, {number(total[at].item(), 6)}"
    return f"{place}: {which} of the {k} largest by magnitude, so {among}."


def of_sent(case: Case, n: int, at: int, want: Sequence[Tensor]) -> str:
    """Who sends that element, where it is clear which are the largest."""
    sends = []
    for rank, (g, r, k) in ((rank, inputs(case, rank)) for rank in case.members):
        total = (g + r).abs()
        if total.topk(k).values[-1] <= total[at]:
            sends.append(f"rank {rank} sends {number((g + r)[at].item(), 6)}")
    if case.settings["kind"] == TIES:
        return ""
    return f"There {listed(sends) or 'nobody sends anything'}; the mean is over {counted(case.size, 'rank')}."
