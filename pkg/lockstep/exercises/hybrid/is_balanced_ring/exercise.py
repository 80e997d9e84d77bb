"""Catch an unbalanced ring: the learner writes the test, and it is tried on rings known to be wrong or right."""

from pathlib import Path

from lockstep.checks.catch import Candidates, watch
from lockstep.checks.exercise import Exercise, Run, Values
from lockstep.checks.load import load_as

FOLDER = Path(__file__).parents[1] / "ring_attention"
FILES = {
    "rejects-right-answers": {
        "right/by_logsumexp": "is right, and goes round the other way",
        "right/straight_from_the_owner": "is right, and computes pair by pair",
        "wrong/waits_at_once": "is right, and waits for each message before it computes",
    },
    "misses-wrong-values": {
        "wrong/one_stretch_each": "takes the positions of a rank for one stretch",
        "wrong/not_causal": "lets each position attend to all",
        "wrong/mean_of_blocks": "takes the mean of the softmaxes of single blocks",
        "wrong/only_keys_travel": "takes its own values with other ranks' keys",
    },
    "misses-larger-rings": {"wrong/one_round": "passes keys on once, which is right for one or two ranks only"},
    "misses-other-ranks": {"wrong/later_ranks_only": "is right on rank 0, and leaves out keys of ranks before others"},
    "misses-hangs": {"wrong/blocking_circle": "hangs with two ranks or more"},
    "misses-large-scores": {"wrong/overflows": "computes exp of a score, which is infinite above 709"},
    "misses-groups": {"wrong/ranks_of_the_world": "is right for the whole world, and not for a group of some ranks"},
    "misses-wasted-pairs": {"wrong/all_pairs": "is right, and computes pairs that it masks"},
    "misses-unbalanced": {"wrong/masks_earlier_ranks": "is right; its last rank computes far more than the first"},
    "misses-collectives": {
        "wrong/whole_keys_gathered": "is right, and gathers all keys and values by a collective",
        "wrong/keys_by_all_reduce": "is right, and gets all keys and values by a collective that sums",
    },
}  # fmt: skip
RINGS = Candidates("a ring attention", FILES, lambda name: (load_as(FOLDER / f"{name}.py", FOLDER.name, "ring.py"),))

EXERCISE = Exercise(
    number=5, kind="catch", core=False, title="Catch an unbalanced ring", points=4, minutes=30, parameters="fn",
    reference="lockstep.context_parallel.ring_test:is_balanced_ring", cases=RINGS.cases, inputs=RINGS.inputs, pure=True,
    worlds=(1,), values=Values(examine=RINGS.examine, share=1.0), run=Run(watch=watch, timeout=60.0),
)  # fmt: skip
