"""Delete the lock: judged by who is in the gradient at the same time, and by what stands in w then."""

from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.rules import Rule, first
from lockstep.exercises.without_waiting.meeting import SIZE, WAYS, Task, foreseen, watch

TASKS = (  # examples, threads, whether the threads have coordinates of their own
    (7, 1, True, "1 thread, 7 examples"),
    (9, 2, True, "2 threads that share no coordinate, 9 examples"),
    (14, 3, False, "3 threads that share coordinates, 14 examples"),
    (3, 5, True, "5 threads, 3 examples"),
)


def task(case: Case) -> tuple[Any, ...]:
    return case.seed, case.settings["examples"], case.settings["threads"], case.settings["parted"]


def evidence(seen: Seen) -> dict[str, Any]:
    """What was noted, beside what should have been."""
    found, it = seen.returned[0][0], Task(*task(seen.case))
    calls, dealt = sorted(i for mine in found["taken"] for i in mine), [
        list(range(t, it.examples, it.threads)) for t in range(min(it.threads, it.examples))
    ]  # fmt: skip
    given, held = foreseen(it)
    off = next((i for i in range(it.examples) if found["given"][i] != given[i]), None)
    ways = WAYS if off is not None else ()
    way = next((way for way in ways if foreseen(it, way)[0] == dict(enumerate(found["given"]))), "")
    missing = sorted(set(range(it.examples)) - set(calls))
    last = next((i for i in range(it.examples) if found["held"][i] != held[i]), None)
    return found | {
        "threads": it.threads, "examples": it.examples, "missing": missing, "way": way, "off": off, "last": last,
        "twice": next((i for i in calls if calls.count(i) > 1), None), "dealt": found["taken"] == dealt,
        "together": min(it.threads, it.examples), "first": next(iter(missing), None),
    }  # fmt: skip


ALL = "All threads train the one w that they share"
RULES = (
    Rule("misused", lambda e: e["misused"], "gradient(i, values) was handed {misused}."),
    Rule("needs-threads", lambda e: e["processes"], "gradients were computed in other processes, which have copies of "
         "w: what they write there is lost. Threads share their memory: use threading.Thread."),
    Rule("not-joined", lambda e: e["late"], "your function returned while {late} of {examples} gradients were still "
         "under way. Start all threads first; then join each of them."),
    Rule("skips-examples", lambda e: e["missing"], "the gradient of example {first} was never asked for. Thread t takes "
         "t, t + threads, and so on to the last example."),
    Rule("example-twice", lambda e: e["twice"] is not None, "the gradient of example {twice} was computed more than "
         "once. Each example is used once: keep what gradient returns."),
    Rule("one-thread", lambda e: len(e["taken"]) == 1 and e["together"] > 1, "one thread computed all the gradients; "
         "{threads} threads should."),
    Rule("dealt-otherwise", lambda e: not e["dealt"], "the threads took the examples {taken}. Thread t takes t, "
         "t + threads, t + 2·threads and so on, in this order."),
    Rule("one-after-the-other", lambda e: e["failed"] == "together" and e["alive"] < e["together"], "while one thread "
         "was in its gradient, {alive} of {threads} threads were there at all: one ends before the next begins. "
         "Start all of them, then join them."),
    Rule("lock-stays", lambda e: e["failed"] == "together", "no more than {most} of {threads} threads were in "
         "gradient() at once: the others did not come in while it waited for them. That is the lock. Nothing must keep "
         "a thread from its gradient while another one is in it."),
    Rule("waits-for-others", lambda e: e["failed"] == "turns", "a thread that had its gradient did not go on to its "
         "next example while another one was still in gradient(): it waited for it. No thread waits for another."),
    Rule("start", lambda e: e["way"] == "start", "each gradient was computed from w as it was at the start. Read "
         "w[coordinates[i]] anew for each example, just before its gradient."),
    Rule("private-w", lambda e: e["way"] == "private", "each thread saw its own updates, and none of the others': it "
         f"has a copy of w. {ALL}, and write into it after each example."),
    Rule("overwrites", lambda e: e["way"] == "stale", "updates that other threads made while a gradient was under way "
         "are gone: you write what w held before the gradient, less the step. Subtract from what w holds after it: "
         "first g = gradient(...), and then w[c] -= rate * g."),
    Rule("uphill", lambda e: e["way"] == "uphill", "w goes up the gradient: the step is subtracted."),
    Rule("rate-left-out", lambda e: e["way"] == "no rate", "the step is the whole gradient: multiply it by rate."),
    Rule("dense-write", lambda e: e["dense"], "your threads write coordinates of w that their example does not use. "
         "Without a lock that takes back what others write there: write w at coordinates[i] and nowhere else."),
    Rule("other-values", lambda e: e["off"] is not None, "the gradient of example {off} was given other values than w "
         "held then at its coordinates. Read w[coordinates[i]] just before, and write w just after each gradient."),
    Rule("wrong-w", lambda e: e["last"] is not None, "after all steps, w is not what it should be at the coordinates of "
         "example {last}. The update is w[coordinates[i]] -= rate * gradient, in place, for each example."),
)  # fmt: skip
COSTS = (
    Rule("lock-at-the-write", lambda e: e["failed"] == "writes", "one thread at a time was writing w: the others did "
         "not begin to while it was at it. HOGWILD! does not lock that, either: with sparse examples two seldom write "
         "the same coordinate, and an update that is lost now and then is noise."),
    Rule("as-long-as-w", lambda e: e["bytes"] >= 8 * SIZE, "somewhere you make an array as long as w. An example uses a "
         "few coordinates: work with arrays of their number."),
)  # fmt: skip


def told(seen: Seen, rules: tuple[Rule, ...]) -> list[Fault]:
    fault = first(rules, evidence(seen))
    return [Fault(fault.misconception, f"With {seen.case}, {fault.message}")] if fault else []


EXERCISE = Exercise(
    cases=lambda ranks, seed: [
        Case(1, seed, settings={"told": told, "examples": n, "threads": k, "parted": parted, "trivial": k == 1})
        for n, k, parted, told in TASKS
    ],
    inputs=lambda case, rank: (task(case),),
    watch=watch,
    examine=lambda seen: next(iter(told(seen, RULES)), None),
    economise=lambda seen: told(seen, COSTS),
    number=1,
    kind="mend",
    title="Delete the lock",
    points=3,
    minutes=20,
    parameters="gradient, coordinates, w, rate, threads",
    reference="lockstep.without_waiting.lock_free:delete_the_lock",
    worlds=(1,),
    pure=True,
    real=True,
)
