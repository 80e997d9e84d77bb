"""Delete the lock: judged by who is in the gradient at the same time, and by what stands in w then."""

from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.rules import Evidence, Rule, first
from lockstep.without_waiting.meeting import SIZE, Task, compared, observed

TASKS = {  # examples, threads, whether the threads have coordinates of their own
    "1 thread, 7 examples": (7, 1, True),
    "3 threads that share coordinates, 14 examples": (14, 3, False),
    "2 threads that share no coordinate, 9 examples": (9, 2, True),
    "5 threads, 3 examples": (3, 5, True),
}


def task(case: Case) -> tuple[Any, ...]:
    return case.seed, *TASKS[str(case)]


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Evidence:
    return observed(fn, Task(*call))


RULES = (
    Rule("misused", lambda e: e["misused"], "gradient(i, values) was handed {misused}."),
    Rule("needs-threads", lambda e: e["processes"], "gradients were computed in other processes, which have copies of "
         "w: what they write there is lost. Threads share their memory: use threading.Thread."),
    Rule("not-joined", lambda e: e["late"], "your function returned while its threads were still at work. Start all "
         "threads first; then join each of them."),
    Rule("skips-examples", lambda e: e["missing"] is not None and e["twice"] is None, "the gradient of example "
         "{missing} was never asked for. Thread t takes t, t + threads, and so on to the last example. If its thread "
         "is one of a pool, it may have raised: you see that when you take its result, as list(pool.map(...)) does."),
    Rule("example-twice", lambda e: e["twice"] is not None and e["missing"] is None, "the gradient of example {twice} "
         "was computed more than once. Each example is used once: keep what gradient returns."),
    Rule("one-thread", lambda e: len(e["taken"]) == 1 < e["together"], "one thread computed all the gradients; "
         "{threads} threads should."),
    Rule("dealt-otherwise", lambda e: not e["dealt"], "the threads took the examples {taken}. Thread t takes t, "
         "t + threads, t + 2·threads and so on, in this order."),
    Rule("one-after-the-other", lambda e: e["failed"] == "together" and e["alive"] == 1, "while a thread was in "
         "gradient() and waited for the others, there was no other thread: one ends before the next begins. Start all "
         "of them first, and then join all of them."),
    Rule("lock-stays", lambda e: e["failed"] == "together", "there were never more than {most} of {together} "
         "threads in gradient() at once: those in it waited for the others, which did not come. A lock keeps them out. "
         "Nothing may keep a thread from its gradient while another one is in it."),
    Rule("waits-for-others", lambda e: e["failed"] == "turns", "a thread that had its gradient did not go on to its "
         "next example while another one was still in gradient(): it waited for it. No thread waits for another."),
    Rule("w-unchanged", lambda e: e["unchanged"], "w is as it was before. Write the updates into w itself, in place."),
    Rule("private-w", lambda e: e["unwritten"] or e["way"] == "private", "a thread went on to its next example, and "
         "the update of the one before was not in w. All threads train the one w that they share, and no copy of it: "
         "write each update into w before the next example."),
    Rule("start", lambda e: e["way"] == "start", "each gradient was computed from w as it was at the start. Read "
         "w[coordinates[i]] anew for each example, just before its gradient."),
    Rule("overwrites", lambda e: e["way"] == "overwrites", "updates that other threads made while a gradient was under "
         "way are gone: you write what w held before the gradient, less the step. Subtract from what w holds after it: "
         "first g = gradient(...), and then w[c] -= rate * g."),
    Rule("dense-write", lambda e: e["dense"], "your program writes coordinates of w that the example does not use. "
         "Without a lock that takes back what others write there: write w at coordinates[i] and nowhere else."),
    Rule("other-values", lambda e: e["off"] is not None, "the gradient of example {off} was given other values than w "
         "should hold then. After each gradient comes w[coordinates[i]] -= rate * gradient, in place."),
    Rule("wrong-w", lambda e: e["last"] is not None, "w is not what it should be at the coordinates of example {last}. "
         "The update is w[coordinates[i]] -= rate * gradient, in place, for each example."),
)  # fmt: skip
COSTS = (
    Rule("lock-at-the-write", lambda e: e["failed"] == "writes", "one thread at a time was writing w: the others did "
         "not begin to while it was at it. HOGWILD! does not lock that, either: with sparse examples two seldom write "
         "the same coordinate, and an update that is lost now and then is noise."),
    Rule("as-long-as-w", lambda e: e["bytes"] >= 8 * SIZE, "somewhere you make an array as long as w. An example uses "
         "a few coordinates: work with arrays of their number."),
)  # fmt: skip
HINTS = (
    ("crashed:Stuck", "If it stands at join, a thread does not end: it may wait for a lock that nobody releases, or go "
     f"through all {SIZE:,} coordinates of w in a loop."),
    (r"argument after \* must be an iterable", "args is a tuple, and the comma makes it one: args=(t,)."),
    (r"UnboundLocalError(.|\n)*'w'", "In an inner function `w -= ...` makes w a new local variable; `w[...] -= ...` "
     "writes into the w that is there."),
    ("PicklingError", "Those are processes, which share no memory: use threads."),
)  # fmt: skip


def told(seen: Seen, rules: tuple[Rule, ...]) -> list[Fault]:
    fault = first(rules, compared(seen.returned[0][0], Task(*task(seen.case))))
    return [Fault(fault.misconception, f"With {seen.case}, {fault.message}")] if fault else []


EXERCISE = Exercise(
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": t, "trivial": TASKS[t][1] == 1}) for t in TASKS],
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
    hints=HINTS,
    worlds=(1,),
    pure=True,
    real=True,
)
