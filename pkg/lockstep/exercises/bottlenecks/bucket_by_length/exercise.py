"""Bucket by length: little padding, and an epoch that is random all the same."""

from lockstep.checks.evidence_rules import Rule
from lockstep.exercises.bottlenecks.by_rules import by_rules
from lockstep.exercises.bottlenecks.observed_steps import APART, EARLY, LATE, TRIED, facts, watch

VALUES = (
    Rule("changes-lengths", lambda e: not e["kept"], "the list lengths is another one afterwards. Leave it as it was."),
    Rule("wrong-type", lambda e: not e["shaped"], "a list of steps is wanted; a step is a list of batches, a batch a "
         "list of integers."),
    Rule("no-sample", lambda e: e["outside"] is not None, "a batch has the number {outside}; the {samples} samples are "
         "counted from 0."),
    Rule("seen-twice", lambda e: e["twice"] is not None, "sample {twice} comes more than once in an epoch."),
    Rule("wrong-size", lambda e: e["sizes"], "some batches have {sizes[0]} samples; each has exactly {size}."),
    Rule("unequal-ranks", lambda e: e["batches"], "some steps have {batches[0]} batches; there are {ranks} ranks, and "
         "each needs one."),
    Rule("wrong-steps", lambda e: e["steps"] is not None, "there are {steps} steps; the samples fill {right}."),
    Rule("differs-between-ranks", lambda e: e["unlike"], "two ranks call it with the same arguments, and get other "
         "steps. Draw from a generator of your own, that begins with seed and epoch."),
    Rule("ranks-wait", lambda e: e.get("padded") is not None and e["like"], "each batch has samples of like length, "
         "but the batches of a step do not: window {padded} computes {computed:,} tokens; {least:,} are the least. All "
         "ranks of a step wait for its longest sample."),
    Rule("more-padding", lambda e: e.get("padded") is not None, "in window {padded}, {computed:,} tokens are computed; "
         "with its samples sorted by length before they are cut into steps, {least:,}."),
    Rule("not-random", lambda e: e.get("apart", 0) > APART, "some windows have the short samples, and others the long "
         "ones. Cut the random order into windows first, and sort in each of them."),
    Rule("same-for-all-seeds", lambda e: e.get("seedless"), "two seeds give the same windows."),
    Rule("same-each-epoch", lambda e: e.get("same"), "two epochs have the same samples in each window."),
    Rule("same-for-two-pairs", lambda e: e.get("pair"), "seed {pair[0][0]} and epoch {pair[0][1]} give the same "
         "windows as seed {pair[1][0]} and epoch {pair[1][1]}. Begin the generator with both numbers, not with one "
         "that is made of them."),
    Rule("leaves-out-by-length", lambda e: not EARLY < e.get("left", 0.5) < LATE, "the samples that are left out are "
         "nearly always among the longest, or nearly always among the shortest. Leave out the end of the random order, "
         "before anything is sorted."),
    Rule("steps-in-order", lambda e: e.get("sorted"), "the steps of each window come in the order of their lengths. "
         "Shuffle them."),
)  # fmt: skip

EXERCISE = by_rules(
    TRIED, watch, facts, VALUES, number=7, core=False, title="Bucket by length", points=3, minutes=20,
    parameters="lengths, size, ranks, window, seed, epoch", reference="lockstep.bottlenecks:bucket_by_length",
)  # fmt: skip
