"""Rules for an elastic training run: first what its workers did, then what their parameters show."""

from collections.abc import Sequence
from dataclasses import replace

from lockstep.checks.evidence_rules import UNGRADED, Rule, first
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.horovod.survival import Task, compared

UNTIMELY = (
    "state.commit() was called when {untimely} steps were made, and `every` is {every}. A failure takes back the steps "
    "after the last commit: make one after `every` steps, 2·`every` and so on."
)
RULES = (
    Rule("too-slow", lambda e: e["skipped"], "this was not tried, since a job before it did not end: a worker "
         "stood at {skipped}. A loop never ends, or workers make different calls of Horovod, or it takes too long."),
    Rule("no-model", lambda e: e["other"], "worker {other[0]} returned a value of type {other[1]}. Return the model."),
    Rule("never-commits", lambda e: e["commits"] < min(e["wanted"], 1), "state.commit() was never called. A failure "
         "then takes back all steps, and no worker that is added is let in: that happens in a commit. Commit after "
         "every `every` steps."),
    Rule("whole-batch", lambda e: e["whole"], "worker {whole[worker]} trained on all rows of a batch, as rank "
         "{whole[rank]} of {whole[size]}. The share of rank r of K is x[r::K], in each step."),
    Rule("stale-rank", lambda e: e["stale"], "worker {stale[0]} trained, at step {stale[1]}, on the rows of rank "
         "{stale[2]} of {stale[3]}; it was rank {stale[4]} of {stale[5]} then. Ask hvd.rank() and hvd.size() in each "
         "step: both change when a worker goes or comes."),
    Rule("foreign-rows", lambda e: e["rows"] and -1 in e["rows"]["rows"], "worker {rows[worker]} trained on numbers "
         "that are no rows of `batches`, as rank {rows[rank]} of {rows[size]}. Do you change `batches`? After a "
         "failure some of its steps are made once more."),
    Rule("other-rows", lambda e: e["rows"], "worker {rows[worker]} trained on the rows {rows[rows]} of one batch as "
         "rank {rows[rank]} of {rows[size]}. The share of rank r of K is x[r::K], in each step."),
    Rule("own-start", lambda e: e["own_start"] and not e["right"], "worker {own_start} began with weights of its own. "
         "hvd.elastic.run gives all what rank 0 has in the state: is the model there, and who calls state.restore()?"),
    Rule("catches-the-failure", lambda e: e["caught"] is not None and not e["right"], "after a worker was killed, "
         "worker {old} came to step {caught} again, and hvd.elastic.run had not begun anew. Do you catch "
         "HorovodInternalError? Let it pass: run needs it to go on with the ranks that are left."),
    Rule("not-averaged", lambda e: e["way"] == "alone" and not e["right"], "worker {old} has the parameters of a "
         "training on its own rows alone: its gradients were averaged with nobody's. hvd.DistributedOptimizer does it, "
         "or hvd.allreduce of each gradient."),
    Rule("too-large", lambda e: e["way"] in ("summed", "scaled") and not e["right"], "worker {old} has the parameters "
         "of a training whose steps are as many times too large as there are ranks. The rate is right for the mean "
         "gradient over the whole batch: leave it as it is, and average."),
    Rule("from-the-beginning", lambda e: e["again"], "after a worker had gone or come, the others began again with "
         "step 0, with a model that had made it already. Which step comes next belongs in the state: hvd.elastic.run "
         "calls your function anew, and it should go on where the state stands."),
    Rule("steps-twice", lambda e: e["twice"] is not None, "step {twice} was made twice: its gradient is in the model "
         "two times. What a commit keeps must fit together: the model after s steps, and that s are made."),
    Rule("steps-missing", lambda e: e["missing"] is not None, "step {missing} is missing. After the failure the model "
         "was that of the last commit again, and your program went on with a later step. Which step comes next belongs "
         "in the state, and when you commit, the model has made all steps before that one."),
    Rule("steps-missing", lambda e: e["strayed"], "worker {strayed[0]}, which was added, began with step {strayed[1]}; "
         "the others were at step {strayed[2]}. Which step comes next belongs in the state: a new worker gets it "
         "from there."),
    Rule("early-commits", lambda e: e["way"] == "early commits" and not e["right"], "the parameters are as if a commit "
         "kept a model without the step under way, and a number that counts it. Commit after optimizer.step()."),
    Rule("model-ahead", lambda e: e["way"] == "model ahead" and not e["right"], "the parameters are as if the "
         "optimizer had gone back to the last commit, and the model had not. It belongs in the state."),
    Rule("momentum-ahead", lambda e: e["way"] == "momentum ahead" and not e["right"], "the parameters are those of a "
         "training in which the model went back to the last commit, and the momentum did not: it is that of the steps "
         "that were taken back. The optimizer belongs in the state."),
    Rule("momentum-lost", lambda e: e["way"] == "momentum lost" and not e["right"], "the parameters are those of a "
         "training whose momentum began at 0 again when the workers had changed. Put the optimizer that makes the "
         "steps into the state, and make it once."),
    Rule(UNGRADED, lambda e: e["busy"], "The workers did not come to an end, but this machine has so much to do that "
         "this need not be your program's fault. Check again when it is quieter."),
    Rule("hangs", lambda e: e["overdue"], "the job did not come to an end: {overdue}. Do all workers make the same "
         "calls of Horovod after a change?"),
    Rule("never-joined", lambda e: e["unmet"] is not None, "worker {unmet}, which was added, never took part: the "
         "others let it in when they call state.commit() inside hvd.elastic.run."),
    Rule("ended-early", lambda e: e["absent"], "worker {absent[0]} ended before your function returned there. Do all "
         "workers make the same number of steps?"),
    Rule("apart", lambda e: e["apart"] is not None, "worker {apart} ends with other parameters than worker {old}. What "
         "a worker needs to go on with the others belongs in the state: model, optimizer and step."),
    Rule("commits-untimely", lambda e: e["untimely"] and not e["right"], UNTIMELY),
    Rule("other-parameters", lambda e: not e["right"], "worker {old} does not have the parameters of a serial training "
         "on all batches. Each step is the mean gradient over the ranks; after a change all go on with one model, "
         "optimizer and step, out of the state."),
)  # fmt: skip
COSTS = (
    Rule("commits-too-often", lambda e: e["commits"] > e["wanted"] + 1, "state.commit() was called {commits} times; "
         "{wanted} were asked for, after every `every` steps, and one more at the end is fine. Each copies the whole "
         "model and the optimizer's state, and waits for all ranks."),
    Rule("commits-too-seldom", lambda e: e["commits"] < e["wanted"], "state.commit() was called {commits} times; "
         "{wanted} were asked for, after every `every` steps. A failure takes back all steps since the last one."),
    Rule("commits-untimely", lambda e: e["untimely"], UNTIMELY),
    Rule("changes-arguments", lambda e: e["changed"] is not None, "worker {changed} changes `batches`, its argument. "
         "Leave it as it was."),
)  # fmt: skip


def told(rules: Sequence[Rule], task: Task, seen: Seen) -> Fault | None:
    """The fault by the first rule that holds."""
    fault = first(rules, compared(seen.returned[0][0], task))
    return replace(fault, message=f"With {seen.case}: {fault.message}") if fault else None
