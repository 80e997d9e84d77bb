"""Checkpoint without stopping: what the disk is given and when, what stands on it, and whether the training goes on."""

from lockstep.checks.evidence_rules import Rule
from lockstep.checks.exercise import Run
from lockstep.exercises.bottlenecks.by_rules import by_rules
from lockstep.exercises.bottlenecks.observed_checkpoints import TRIED, facts, watch

VALUES = (
    Rule("wrong-argument", lambda e: e["misfit"], "disk.write gets {misfit}. It takes the name of a file, and a dict "
         "of tensors as the state has them."),
    Rule("failure-stops-all", lambda e: e["raised"], "the OSError of a write that fails comes out of your function. It "
         "should stop nothing: note the step, and go on."),
    Rule("trains-elsewhere", lambda e: e["elsewhere"], "train_step is called in another thread than the one that "
         "called you."),
    Rule("wrong-steps", lambda e: e["made"] != e["steps"], "train_step is called {made} times; {steps} are wanted."),
    Rule("two-at-once", lambda e: e["beside"], "the write for step {beside[due]} begins while that for step "
         "{beside[beside]} is not done. One is written at a time."),
    Rule("changes-while-written", lambda e: e["changes"], "what disk.write gets for step {changes[due]} changes while "
         "it is written: a step changes the tensors in place. Copy the tensors themselves before the next step."),
    Rule("later-state", lambda e: e["later"], "the write for step {later[due]} gets the state after step "
         "{later[has]}. Copy before the next step is made, in the thread that trains."),
    Rule("wrong-step", lambda e: e["step"], "the state after step {step[has]} is written. With every = {every}, the "
         "steps with a checkpoint are these: {dues}."),
    Rule("mixed-state", lambda e: e["mixed"], "the write for step {mixed[due]} gets tensors that are not those of any "
         "one step."),
    Rule("tries-again", lambda e: e["again"] is not None, "the state after step {again} is written twice. Each "
         "checkpoint writes the state of its own step, and does so once."),
    Rule("over-the-good-one", lambda e: e["over"], 'the write for step {over[due]} goes straight to "checkpoint", '
         "which is not whole until it ends. Write to another file, and rename it when it is whole."),
    Rule("no-file-between", lambda e: e["away"], '"checkpoint" is renamed to {away[new]!r}: from then on there is no '
         "whole one, until the next has that name. A rename replaces what was there."),
    Rule("part-of-a-file", lambda e: e["part"], 'a file that is not whole is renamed to "checkpoint". Rename after '
         "write has returned, and only if it has raised no error."),
    Rule("no-such-file", lambda e: e["lost"], "there is no file {lost[old]!r} when it is to be renamed."),
    Rule("returns-too-early", lambda e: e["left"] or e["begun"] < e["expected"] == len(e["writes"]), "it returns "
         "before all is written. Wait for the last write."),
    Rule("left-out", lambda e: e["missing"] is not None and not e["early"], "the state after step {missing} is never "
         "written."),
    Rule("renamed-late", lambda e: e["behind"], 'when the write for step {behind[due]} begins, "checkpoint" has not '
         "got what the good write for step {behind[behind]} wrote. Rename at once."),
    Rule("renamed-late", lambda e: e["renamed late"], 'the good write for step {renamed late[0]} is done, and the '
         'training goes on, but "checkpoint" has not got what was written. Rename at once: in the thread that writes.'),
    Rule("not-the-last", lambda e: not e["stands"] and not e["early"], 'when you return, "checkpoint" {holds}; the '
         "last good checkpoint was that of step {last}."),
    Rule("wrong-type", lambda e: not e["is list"], "it returns {type}; a list of steps is wanted."),
    Rule("wrong-failures", lambda e: e["returned"] != e["failed"], "it returns {returned}; the steps whose write "
         "failed are {failed}."),
    Rule("changes-state", lambda e: not e["kept"], "the state is another one than the steps have made. Leave it to "
         "them."),
)  # fmt: skip
COSTS = (
    Rule("training-waits", lambda e: e["blocks"], "the training waits: while the checkpoint of step {blocks[due]} is "
         "written, no further step is made."),
    Rule("copy-waits", lambda e: e["early"], "the copy for step {early[due]} is made while the checkpoint before is "
         "still being written: then two copies are in memory. Wait for that write, and copy then. (The check sees it "
         "since the tensors have other values meanwhile.)"),
    Rule("begins-late", lambda e: e["idle"], "the write for step {idle[0]} has not begun when the next step is made."),
    Rule("thread-stays", lambda e: e["alive"], "threads of yours are alive when you return: {alive}.", price=1.0),
)  # fmt: skip

EXERCISE = by_rules(
    TRIED, watch, facts, VALUES, COSTS, number=12, core=False, title="Checkpoint without stopping", points=3,
    minutes=20, parameters="train_step, state, steps, every, disk",
    reference="lockstep.bottlenecks:checkpoint_without_stopping",
    run=Run(real_machine=True, compare_arguments=False, timeout=30.0),
)  # fmt: skip
