"""Resume exactly: no sample twice and none missing, whatever stops between, and with other ranks."""

from lockstep.checks.evidence_rules import Rule
from lockstep.exercises.bottlenecks.by_rules import by_rules
from lockstep.exercises.bottlenecks.observed_restarts import LONGEST, TRIED, facts, watch

VALUES = (
    Rule("wrong-type", lambda e: e["lacks"], "it returns {type}, which has no method {lacks}."),
    Rule("ranks-end-apart", lambda e: e["ends"], "in step {at}, {ends} of {ranks} ranks have a batch, and the others "
         "have none. All ranks make the same steps."),
    Rule("no-plain-state", lambda e: e["plain"], "state_dict() gives {plain} that is no dict of plain data: "
         "json.dumps must be able to write it."),
    Rule("long-state", lambda e: e["long"], f"the state has {{long}} characters as JSON; at most {LONGEST} are "
         "allowed. The order of an epoch follows from its seed and number."),
    Rule("states-differ", lambda e: e["unlike"], "two ranks' states differ after the same step: {unlike[0]} and "
         "{unlike[1]}. Count what all ranks have taken together."),
    Rule("state-lives", lambda e: e["lives"], "a state that was taken changes when the training goes on. Return a new "
         "dict."),
    Rule("changes-the-state", lambda e: e["given"], "the dict that load_state_dict was given is another one when the "
         "epoch goes on. Take the numbers out of it, and leave it as it was."),
    Rule("wrong-size", lambda e: e["sizes"] is not None, "a batch has {sizes} samples; {batch} are wanted."),
    Rule("no-sample", lambda e: e["outside"] is not None, "a batch has the number {outside}; the {samples} samples "
         "are counted from 0."),
    Rule("seen-again", lambda e: e["twice"] is not None and e["again"] and not e["alone"], "sample {twice} was seen "
         "before the stop, and comes once more in the same epoch."),
    Rule("seen-twice", lambda e: e["twice"] is not None, "sample {twice} comes twice in an epoch without a stop "
         "between."),
    Rule("wrong-rest", lambda e: e["missing"] is not None and not e["alone"], "after a stop {left} samples of the "
         "epoch are left, which fill {right} steps that are asked for; {missing} come."),
    Rule("wrong-steps", lambda e: e["missing"] is not None, "{samples} samples fill {right} steps of {ranks} batches "
         "of {batch}; {missing} come."),
    Rule("another-order", lambda e: e["moved"], "with the same ranks and batch, the job that was stopped gets other "
         "batches than one that was not. The order of an epoch may depend on its seed and number only."),
    Rule("no-way-back", lambda e: not e["back"], "a loader that has begun epoch 1 loads a state of epoch 0, and gives "
         "other batches than those that came after that state. They depend on it and on the seed, on nothing else."),
    Rule("not-shuffled", lambda e: e["sorted"], "the samples come in the order of their numbers. Each epoch has a "
         "random order."),
    Rule("same-each-epoch", lambda e: e["same"], "two epochs have the same order."),
    Rule("same-each-epoch", lambda e: e["zero"], "with seed 0, two epochs have the same order."),
    Rule("same-for-all-seeds", lambda e: e["seeds"], "two seeds give the same order."),
    Rule("sum-of-both", lambda e: e["sum"], "epoch 1 of a seed has the order of epoch 0 of the next one. Begin the "
         "generator with both numbers, not with their sum."),
)  # fmt: skip

EXERCISE = by_rules(
    TRIED, watch, facts, VALUES, number=9, core=False, title="Resume exactly", points=4, minutes=25,
    parameters="samples, batch, rank, ranks, seed", reference="lockstep.bottlenecks:resume_exactly",
)  # fmt: skip
