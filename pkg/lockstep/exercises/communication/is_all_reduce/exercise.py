"""Catch a wrong all-reduce: the learner writes the test, and it is tried on rings known to be wrong or right."""

from pathlib import Path

from lockstep.checks.catch import Candidates, watch
from lockstep.checks.exercise import Exercise, Run, Values
from lockstep.checks.load import load_as

FOLDER = Path(__file__).parents[1] / "ring_all_reduce"
FILES = {
    "rejects-right-answers": {
        "right/other_direction": "is right, and leaves the sum in the tensor",
        "right/list_of_chunks": "is right, and returns the sum",
    },
    "rejects-dear-answers": {"wrong/whole_tensor": "is right, and sends more than it needs to"},
    "misses-wrong-values": {
        "wrong/leaves_out_rank_zero": "leaves out the tensor of rank 0",
        "wrong/maximum": "gives the largest, element by element",
        "wrong/copy_lost": "returns nothing and leaves the tensor as it was",
        "wrong/only_rank_zero": "leaves the sum on rank 0 alone",
        "wrong/chunks_out_of_place": "has all sums, some of them at other places of the tensor",
    },
    "misses-some-sizes": {
        "wrong/even_sizes": "is right where the number of ranks divides the number of elements, and only there",
        "wrong/two_ranks": "is right for two ranks and for no larger number",
        "wrong/world_ranks": "is right for the whole world, and not for a group of some of its ranks",
        "wrong/own_numbers": "is right for a group whose ranks are numbered as in the world, and for no other group",
    },
    "misses-hangs": {"wrong/blocking_circle": "hangs", "wrong/view_chunks": "raises an error for some sizes"},
}
RINGS = Candidates("an all-reduce", FILES, lambda name: (load_as(FOLDER / f"{name}.py", FOLDER.name, "candidate.py"),))

EXERCISE = Exercise(
    number=13, kind="catch", core=False, title="Catch a wrong all-reduce", points=4, minutes=30, parameters="fn",
    reference="lockstep.collectives:is_all_reduce", cases=RINGS.cases, inputs=RINGS.inputs, pure=True, worlds=(1,),
    values=Values(examine=RINGS.examine, share=1.0), run=Run(watch=watch, timeout=40.0),
)  # fmt: skip
