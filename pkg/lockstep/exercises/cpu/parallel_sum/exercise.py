"""parallel_sum: threads that share nothing but what they read. Which worker writes to which cache line is found by
running the function in Python on traced arrays, worker beside worker."""

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule
from lockstep.checks.exercise import Costs, Feedback
from lockstep.cpu.tracing import Memory
from lockstep.exercises.cpu.arrays import one_case, wide
from lockstep.exercises.cpu.kernels import COMPILED, compiled, drawn, ones_there, returned
from lockstep.exercises.cpu.observed_call import Kernel, sharing
from lockstep.show.lines import draw_lines

CALLS = ((8, 2), (0, 3), (5, 8), (101, 4), (47, 16), (400, 4))  # elements, workers
SLACK = 4  # transfers for each worker: some at the beginning and the end are nobody's fault


def calls(case: Case) -> list[Call]:
    """All of five elements are negative."""
    return [(wide(case, i, n) * (-1 if n == 5 else 1), workers) for i, (n, workers) in enumerate(CALLS)]


RACE = Rule("race", lambda e: e["races"],
    "several workers use an element of an array that one of them writes to, in one prange. Each reads the old value, "
    "adds, and writes: whoever is later overwrites what the other one added. Give every worker an element of its own, "
    "and add these up after the loop. (total += s on a plain number is safe in a prange: numba gives each thread a "
    "total of its own, and adds them up. On an element of an array it is a race.)")  # fmt: skip
RULES = (
    *COMPILED,
    Rule("serial", lambda e: not e["turns"],
         "But with {elements} elements and {workers} workers it comes to no prange: one worker does all. Loop over the "
         "workers by prange."),
    Rule("not-parallel", lambda e: not e["parallel"],
         "But without parallel=True prange is a plain range: @njit(parallel=True)."),
    Rule("serial", lambda e: e["each"] and sum(map(bool, e["shares"])) < 2,
         "But x is read by one worker, or outside of the prange: the others have nothing to do."),
    Rule("ignores-workers", lambda e: e["workers"] not in e["turns"],
         "But with workers = {workers} your prange has {turns} turns. numba divides them among all the threads that it "
         "has, however many workers were asked for. Let the prange go over the workers, prange(workers), and divide "
         "the elements among them yourself."),
    Rule("shared-elements", lambda e: sum(e["shares"]) + e["outside"] > 1.5 * len(e["read"]["x"]),
         "But your {workers} workers read {shares} elements of x: divide them, so that each is read by one worker."),
    Rule("uneven", lambda e: e["each"] and max(e["shares"]) + e["outside"] > 1.5 * e["elements"] / e["workers"],
         "But the workers read {shares} elements of x, and {outside} are read outside of the prange: everybody waits "
         "for the slowest."),
)  # fmt: skip

TRANSFERS = Measure(lambda seen: seen.returned[0][-1]["transfers"], "time", "cache lines move from core to core {}",
                    "cache lines move {}", "transfers")  # fmt: skip
SHARING = (
    "Workers write in turns to elements that lie in one line of 64 bytes. Add up in a variable of the worker's own, "
    "and write it once at the end; or pad, so that each worker's element has a line of its own."
)

EXERCISE = compiled(
    Kernel(("x", "workers"), returned, facts=sharing, memory=lambda arguments: Memory(arguments[1])),
    Arrays(
        calls,
        lambda x, workers: float(x.sum()),
        rules=[RACE],
        asked="the sum, a number,",
        told="{0.size} elements and {1} workers",
        aside=ones_there(lambda x, workers: int(x.size)),
    ),
    rules=RULES,
    judged_calls=lambda rows: [
        e | {"elements": n, "each": n // e["workers"]}  # if this is 0, some have nothing to do
        for e in rows
        if (n := len(e["read"]["x"]))
    ],
    number=4,
    title="A parallel sum without false sharing",
    points=4,
    minutes=25,
    reference="lockstep.cpu.threads:parallel_sum",
    cases=one_case("six arrays"),
    costs=Costs(
        algorithm="a sum by 4 workers",
        budgets=(Budget(TRANSFERS, lambda case: CALLS[-1][1], at_most=SLACK, advice=SHARING),),
    ),
    feedback=Feedback(picture=drawn("by", lambda e: draw_lines(e["by"], e["transfers"], e["workers"]))),
)
