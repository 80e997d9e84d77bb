"""``lockstep plan``: how to divide a model's training among GPUs, how long a step takes, whether it fits, what it
costs."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockstep.errors import UsageError
from lockstep.planner import answers, clusters, models, stacks
from lockstep.planner.answers import Answer
from lockstep.planner.explain import explain
from lockstep.planner.models import whole
from lockstep.planner.plans import Job

if TYPE_CHECKING:
    from lockstep.show.plan import PlanExplorer


def plan(args: argparse.Namespace) -> int:
    answer = _answer(args)
    if args.page is not None:
        _explorer(args, answer).save(args.page)
    if args.json:
        print(json.dumps(answer.to_json(), indent=2))
    else:
        print("\n".join(_lines(answer, args.explain)))
    return 0


def _explorer(args: argparse.Namespace, answer: Answer) -> PlanExplorer:
    """The figure of the job that was asked for. It is imported for a page only."""
    from lockstep.show.plan import plan as explorer

    seq = answer.job.model.seq if args.seq is not None else None
    return explorer(args.model, args.cluster, answer.job.batch, seq, args.stack)


def _answer(args: argparse.Namespace) -> Answer:
    cluster = clusters.find(args.cluster)
    seq = whole("--seq", args.seq) if args.seq is not None else None
    model = models.find(args.model, seq)
    batch = whole("--batch", args.batch) if args.batch is not None else answers.default_batch(cluster.gpus, model.seq)
    job = Job(model, cluster, batch, args.precision.lower(), args.dispatch.lower())
    if args.days is not None and args.tokens is not None:
        raise UsageError("--days and --tokens say the same thing twice.", "Give one of them.")
    return answers.plan(
        job,
        stacks.find(args.stack, cluster),
        answers.fixed_from(args.fix),
        whole("--top", args.top),
        tokens=_amount("tokens", args.tokens, "15e12"),
        days=_amount("days", args.days, "30"),
        price=_amount("price", args.price, "2.5"),
    )


def _amount(name: str, text: str | None, example: str) -> float | None:
    """``text`` as a number above 0. Raises UsageError."""
    if text is None:
        return None
    try:
        number = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"--{name} is a number above 0, not {text!r}.", f"Write, say, --{name} {example}.")
    return number


def _lines(answer: Answer, explained: bool) -> Iterator[str]:
    yield repr(answers.table(answer))
    best = answers.described(answer.job, answer.found.best[0], answer.price)
    if best["reason"]:
        yield f"\n{best['reason']}"
    if best["cost_per_token"]:
        yield f"\n{1e6 * best['cost_per_token']:.3g} dollars for a million tokens."
    if bill := answer.invoice:
        yield (
            f"\n{bill.tokens:.3g} tokens: {bill.days:,.1f} days and {bill.gpu_hours:,.0f} GPU hours"
            + (f", {bill.dollars:,.0f} dollars" if bill.dollars is not None else "")
            + f". Without failures {bill.days_without_failures:,.1f} days: goodput {100 * bill.goodput:.1f} %."
        )
        yield (
            f"{bill.interruptions:,.0f} interruptions, one in {bill.hours_between_interruptions:,.1f} hours (Llama "
            f"3's rate); a checkpoint of {bill.checkpoint_seconds:,.0f} s every "
            f"{bill.checkpoint_interval / 60:,.0f} minutes (Young and Daly)."
        )
    if explained:
        yield f"\n{explain(answer)}"
