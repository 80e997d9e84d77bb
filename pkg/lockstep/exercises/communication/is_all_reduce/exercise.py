"""Catch a wrong all-reduce: the learner writes the test, and it is tried on rings known to be wrong or right."""

from pathlib import Path

from lockstep.checks.catch import Candidates, watch
from lockstep.checks.exercise import Exercise
from lockstep.checks.load import load_as

DEAR = "is right, and sends more than it needs to"
FOLDER = Path(__file__).parents[1] / "ring_all_reduce"
FILES = {
    "rejects-right-answers": {
        "right/even_and_odd": "is right: even ranks send first",
        "right/list_of_chunks": "is right, and returns the sum",
        "right/other_direction": "is right: it goes round the other way",
    },
    "rejects-dear-answers": {"wrong/whole_tensor": DEAR, "wrong/gather_to_one": DEAR, "wrong/all_peers": DEAR},
    "misses-wrong-values": {
        "wrong/average": "gives the average",
        "wrong/adds_twice": "adds some tensors twice",
        "wrong/maximum": "gives the largest, element by element",
        "wrong/copy_lost": "returns nothing and leaves the tensor as it was",
        "wrong/only_rank_zero": "leaves the sum on rank 0 alone",
    },
    "misses-some-sizes": {
        "wrong/even_sizes": "is right where the number of ranks divides the number of elements, and only there",
        "wrong/two_ranks": "is right for two ranks and for no larger number",
        "wrong/world_ranks": "is right for the whole world, and not for a group of some of its ranks",
    },
    "misses-hangs": {"wrong/blocking_circle": "hangs", "wrong/view_chunks": "raises an error for some sizes"},
}
RINGS = Candidates("an all-reduce", FILES, lambda name: (load_as(FOLDER / f"{name}.py", FOLDER.name, "candidate.py"),))

EXERCISE = Exercise(
    number=13, kind="catch", core=False, title="Catch a wrong all-reduce", points=4, minutes=30, parameters="fn",
    reference="lockstep.collectives:is_all_reduce", cases=RINGS.cases, inputs=RINGS.inputs, watch=watch,
    examine=RINGS.examine, pure=True, worlds=(1,), seconds=40.0, values=1.0,
)  # fmt: skip
