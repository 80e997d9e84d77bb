"""Mend a loader: what it opens, reads and decodes is counted, and whether it is ahead of its consumer; no clock."""

from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule, first
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.bottlenecks.observed_loader import TRIED, right, watch

VALUES = (
    Rule("wrong-type", lambda e: e["type"], "it returns {type}; batches that can be iterated are wanted: a generator."),
    Rule("changes-order", lambda e: not e["order"], "the list order is another one afterwards. Leave it as it was."),
    Rule("swallows-the-error", lambda e: e["broken"] and not e["error"], "decode raises an error for one sample, and "
         "the consumer never sees it. It belongs to the batch of that sample: raise it when that batch is asked for."),
    Rule("error-too-early", lambda e: e["error"] and e["at"] == len(e["batches"]) < len(e["right"]), "the consumer "
         "asks for batch {at}, which is good, and gets the error of batch {fails}. It should get that batch, and the "
         "error when it asks for batch {fails}.", telling=True),
    Rule("wrong-values", lambda e: e["batches"] != e["right"], "batch {at} is {held}; it is {want}."),
)  # fmt: skip


def cost(misconception: str, holds: Callable[[Evidence], Any], told: str, price: float = 0.0) -> Rule:
    return Rule(misconception, holds, told, price, telling=True)


COSTS = (
    cost(
        "opens-again",
        lambda e: e["most"] > 1,
        "a shard is opened {most} times. Once in an epoch is enough.",
    ),
    cost(
        "reads-too-much",
        lambda e: e["nbytes"] > e["needed"],
        "{nbytes:,} bytes are read; the samples have {needed:,}. Read those of each sample only.",
    ),
    cost(
        "decodes-again",
        lambda e: e["twice"],
        "samples are decoded more than once: {twice} of them.",
    ),
    cost(
        "not-ahead",
        lambda e: e["waits"] >= 0,
        "while the consumer works on batch {before}, nobody begins batch {waits}: it is begun when it is asked for.",
    ),
    cost(
        "too-far-ahead",
        lambda e: e["furthest"] > e["ahead"],
        "a batch is begun that is {furthest} after the one that the consumer has; ahead is {ahead}. All that "
        "is ready lies in memory.",
    ),
    cost(
        "thread-stays",
        lambda e: e["alive"],
        "threads of yours are alive when the consumer has ended: {alive}.",
        price=1.0,
    ),
    cost(
        "leaves-open",
        lambda e: e["open"],
        "shards are open when the consumer has ended: {open}. Close them.",
        price=1.0,
    ),
)


def evidence(seen: Seen) -> list[dict[str, Any]]:
    found = []
    for (call,), answer in zip(inputs(seen.case, 0), seen.returned[0], strict=True):
        best, held = right(call), answer.get("batches", [])
        at = next((n for n, one in enumerate(held) if n >= len(best) or one != best[n]), len(held))
        row = [f"{batches[at]!r:.60}" if at < len(batches) else "missing" for batches in (held, best)]
        more = {"right": best, "broken": call[4] >= 0, "at": at, "fails": len(best), "before": answer["waits"] - 1}
        found.append({**answer, **more, "held": row[0], "want": "not there" if row[1] == "missing" else row[1]})
    return found


def inputs(case: Case, rank: int) -> list[Any]:
    return [((*row, case.seed),) for row in TRIED[str(case)]]


def judged(rules: tuple[Rule, ...], seen: Seen) -> Fault | None:
    fault = first(rules, *evidence(seen))
    return fault and Fault(
        fault.misconception, f"With {seen.case}: {fault.message}", telling=fault.telling, price=fault.price
    )


EXERCISE = Exercise(
    number=2, kind="mend", title="Mend the loader", points=4, minutes=25,
    parameters="store, order, size, decode, ahead",
    reference="lockstep.bottlenecks:mend_loader", worlds=(1,), pure=True, inputs=inputs,
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": told}) for told in TRIED],
    values=Values(share=0.0, examine=lambda seen: judged(VALUES, seen)),
    costs=Costs(economise=lambda seen: [fault for fault in [judged(COSTS, seen)] if fault]),
    comparison=Comparison(
        alike=lambda seen: [(e["type"], e["error"], e["order"], e.get("batches")) for e in evidence(seen)],
        footprint=lambda seen: getattr(judged(COSTS, seen), "misconception", ""),
    ),
    run=Run(watch=watch, real_machine=True, timeout=20.0),
)  # fmt: skip
