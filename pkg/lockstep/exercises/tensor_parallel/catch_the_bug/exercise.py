"""Catch the bug: the learner writes the test, and it is tried on ten programs with a bug and two without."""

from pathlib import Path

from lockstep.checks.catch import Candidates, watch
from lockstep.checks.exercise import Exercise, Run, Values
from lockstep.checks.load import load_as
from lockstep.tensor_parallel import bugs

PROGRAMS = {
    "rejects-right-answers": {
        "in_parts_of_the_sequence": "is right: each rank has some of the positions; sums round differently",
        "bias_in_parts": "is right: each rank adds 1/K of a bias; sums round differently",
    },
    "misses-wrong-losses": {
        "qkv_at_even_places": "cuts queries, keys and values as if they were one matrix",
        "first_token_for_others": "embeds a token of another rank as the first one of its own",
    },
    "misses-wrong-gradients": {"no_f": "leaves f out: gradients are one rank's summands"},
    "misses-wrong-places": {
        "in_order_of_ranks": "has a gradient's rows in another order: its norm is right, and so is its sum",
    },
    "misses-some-ranks": {"norms_on_rank_0": "adds up the gradients of norms on rank 0, and nowhere else"},
    "misses-small-differences": {
        "eps_forgotten": "takes eps for 0 in the gradient of a norm's weights: it is off by little, not by rounding",
    },
    "misses-biases": {"bias_in_the_sum": "adds a bias once on each rank: it shows where the bias isn't 0"},
    "misses-some-sizes": {
        "two_ranks": "adds its neighbour's summand alone: with two ranks that is right",
        "no_remainder": "drops what is left over where K doesn't divide a layer's size",
    },
    "misses-groups": {"whole_world": "all-reduces among all ranks of the world, whatever the group is"},
}
BUGS = Candidates("a program", PROGRAMS, lambda name: (load_as(Path(bugs.__file__), name, "program.py"), bugs.serial))

EXERCISE = Exercise(
    number=3, kind="catch", title="Catch the bug", points=5, minutes=35, parameters="parallel, serial",
    reference="lockstep.tensor_parallel.bug_test:is_right", cases=BUGS.cases, inputs=BUGS.inputs, pure=True,
    worlds=(1,), values=Values(examine=BUGS.examine, share=1.0), run=Run(watch=watch, timeout=60.0),
)  # fmt: skip
