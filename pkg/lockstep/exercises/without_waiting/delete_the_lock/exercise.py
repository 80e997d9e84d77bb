"""Delete the lock: judged by which threads compute a gradient at the same time, and by what w holds then."""

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.without_waiting.threads_on_one_vector import SIZE, Task, compared, observed

TASKS = {  # examples, threads, whether the threads have coordinates of their own
    "1 thread, 7 examples": (7, 1, True),
    "3 threads that share coordinates, 14 examples": (14, 3, False),
    "2 threads that share no coordinate, 9 examples": (9, 2, True),
    "5 threads, 3 examples": (3, 5, True),
    "40 threads, 40 examples": (40, 40, False),  # a pool of the usual size has at most 32
}
RULES = (
    Rule("misused", lambda e: e["misused"], "gradient(i, values) was handed {misused}."),
    Rule("needs-threads", lambda e: e["processes"], "gradients were computed in other processes, which have copies of "
         "w: what they write there is lost. Threads share their memory: use threading.Thread."),
    Rule("not-joined", lambda e: e["late"], "your function returned while its threads were still at work: join them."),
    Rule("skips-examples", lambda e: e["missing"] is not None and e["twice"] is None, "the gradient of example "
         "{missing} was never asked for. Thread t takes t, t + threads, and so on to the last example. If its thread "
         "is one of a pool, it may have raised: you see that when you take its result, as list(pool.map(...)) does."),
    Rule("example-twice", lambda e: e["twice"] is not None and e["missing"] is None, "the gradient of example {twice} "
         "was computed more than once. Each example is used once: keep what gradient returns."),
    Rule("one-thread", lambda e: len(e["taken"]) == 1 < e["together"], "one thread computed all the gradients."),
    Rule("too-few-threads", lambda e: e["failed"] == "together" and 1 < e["alive"] < e["together"], "there were no "
         "more than {alive} threads while gradient() waited for {together}: all may be in it at the same time. Start "
         "one for each t. A pool that is to have them all has max_workers=threads."),
    Rule("dealt-otherwise", lambda e: not e["dealt"], "the threads took the examples {taken}. Thread t takes t, "
         "t + threads, t + 2·threads and so on, in this order."),
    Rule("one-after-the-other", lambda e: e["failed"] == "together" and e["alive"] == 1, "while a thread was in "
         "gradient() and waited for the others, there was no other thread. Start all of them, and then join them."),
    Rule("lock-stays", lambda e: e["failed"] == "together", "at most {most} of {together} threads were in gradient() "
         "at once: those in it waited for the others in vain. A lock keeps them out, and nothing may."),
    Rule("waits-for-others", lambda e: e["failed"] == "turns", "a thread that had its gradient did not go on to its "
         "next example while another one was still in gradient(): it waited for it. No thread waits for another."),
    Rule("w-unchanged", lambda e: e["unchanged"], "w is as it was before. Write the updates into w itself, in place."),
    Rule("private-w", lambda e: e["unwritten"] or e["way"] == "private", "a thread went on to its next example, and "
         "its last update was not in w. All train one w, and no copies: write each update into w before you go on."),
    Rule("start", lambda e: e["way"] == "start", "each gradient was computed from w as it was at the start. Read "
         "w[coordinates[i]] anew for each example, just before its gradient."),
    Rule("overwrites", lambda e: e["way"] == "overwrites", "updates that other threads made while a gradient was under "
         "way are gone: you write what w held before the gradient, less the step. Subtract from what w holds after it: "
         "first g = gradient(...), and then w[c] -= rate * g."),
    Rule("dense-write", lambda e: e["dense"], "your program writes coordinates of w that the example does not use. "
         "Without a lock that takes back what others write there: write w at coordinates[i] and nowhere else."),
    Rule("old-values", lambda e: e["off"] is not None and e["old"] is not None, "the gradient of example {old} was "
         "given other values than w held at its places at that time. Read w[coordinates[i]] right before each call: "
         "what is read before an update is old after it."),
    Rule("other-values", lambda e: e["off"] is not None, "the gradient of example {off} was given other values than w "
         "should hold then. After each gradient comes w[coordinates[i]] -= rate * gradient, in place."),
    Rule("wrong-w", lambda e: e["last"] is not None, "w is not what it should be at the coordinates of example {last}. "
         "The update is w[coordinates[i]] -= rate * gradient, in place, for each example."),
)  # fmt: skip
COSTS = (
    Rule("dense-read", lambda e: e["reads"], "a step reads all of w. It needs w at coordinates[i] and nowhere else: "
         "the rest costs time, and other threads are writing there."),
    Rule("lock-at-the-write", lambda e: e["failed"] == "writes", "while one thread was writing w, no other began to. "
         "Lock no write: with sparse examples two seldom write the same coordinate, and a rare lost update is noise."),
    Rule("as-long-as-w", lambda e: e["bytes"] >= 8 * SIZE, "your program takes {bytes:,} bytes besides w, which has "
         f"{8 * SIZE:,}. An example uses a few coordinates: nothing that you make need be as long as w."),
)  # fmt: skip
HINTS = (
    ("crashed:Stuck", "If it stands at join, a thread does not end: it may wait for a lock that nobody releases."),
    (r"argument after \* must be an iterable", "args is a tuple, and the comma makes it one: args=(t,)."),
    ("PicklingError", "Those are processes, which share no memory: use threads."),
    (r"UnboundLocalError(.|\n)*'w'", "In an inner function `w -= ...` makes a new local w; `w[...] -= ...` does not."),
)


def told(seen: Seen, rules: tuple[Rule, ...]) -> list[Fault]:
    fault = first(rules, compared(seen.returned[0][0], Task(seen.case.seed, *TASKS[str(seen.case)])))
    return [Fault(fault.misconception, f"With {seen.case}, {fault.message}")] if fault else []


EXERCISE = Exercise(
    number=1,
    kind="mend",
    title="Delete the lock",
    points=3,
    minutes=20,
    worlds=(1,),
    pure=True,
    parameters="gradient, coordinates, w, rate, threads",
    reference="lockstep.without_waiting.lock_free:delete_the_lock",
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": TASKS[t][1] == 1}) for t in TASKS],
    inputs=lambda case, rank: [(case.seed, *TASKS[str(case)])],
    values=Values(examine=lambda seen: next(iter(told(seen, RULES)), None), may_change=["w.values"]),
    costs=Costs(economise=lambda seen: told(seen, COSTS)),
    run=Run(real_machine=True, watch=lambda fn, call: observed(fn, Task(*call))),
    feedback=Feedback(hints=HINTS),
)
