"""Overlap copies with computing in a few buffers: no race, whatever the times are, and no time lost. Virtual time."""

from lockstep.checks.evidence_rules import Rule
from lockstep.exercises.bottlenecks.by_rules import by_rules
from lockstep.exercises.bottlenecks.observed_copies import TRIED, facts, watch

VALUES = (
    Rule("wrong-batches", lambda e: e["wrong"], "the calls of {wrong} have the batches {order}; each of the {batches} "
         "is wanted once, in its order."),
    Rule("another-batch", lambda e: e["elsewhere"] is not None, "step {elsewhere} reads buffer {place}, into which "
         "{held} was copied last before that step was launched."),
    Rule("reads-too-early", lambda e: e["early"] is not None, "step {early} begins before its batch is in the buffer. "
         "It has to wait for the event of that copy."),
    Rule("overwrites", lambda e: e["over"] is not None, "batch {over} is copied into buffer {place} while step "
         "{reader} has not yet read it to its end. The copy has to wait for the event of that step."),
)  # fmt: skip
COSTS = (
    Rule("one-after-another", lambda e: e["slow"] and e["alone"], "nothing overlaps: it takes {took:.1f} ms, as long "
         "as all copies and steps one after another; {best:.1f} ms are enough."),
    Rule("too-slow", lambda e: e["slow"], "it takes {took:.1f} ms; with {buffers} buffers {best:.1f} are enough, and "
         "one after another it would be {one:.1f}. Something waits longer than it has to, or a buffer stays empty."),
)  # fmt: skip

EXERCISE = by_rules(
    TRIED, watch, facts, VALUES, COSTS, number=10, core=False, title="Overlap copies", points=3, minutes=20,
    parameters="gpu, batches, buffers", reference="lockstep.bottlenecks.double_buffering:overlap_copies",
)  # fmt: skip
