"""PipeDream with weight stashing: which version is needed at each pair decides what has to follow it."""

from lockstep.exercises.pipeline.judged_streams import each, of_all_stages, streams
from lockstep.pipeline.weight_stashing import mistake

EXERCISE = streams(
    {
        "two stages": of_all_stages((2, 3), (2, 12)),
        "four stages": of_all_stages((4, 9)),
        "fewer minibatches than stages": of_all_stages((4, 2), (6, 5)),
        "one minibatch": of_all_stages((3, 1)),
        "one stage": of_all_stages((1, 4)),
    },
    mistakes=each(mistake),
    kinds=("F", "B", "U", "drop"),
    length=2,
    number=7,
    core=False,
    title="Never flush",
    points=3,
    minutes=20,
    parameters="stage, stages, minibatches",
    reference="lockstep.pipeline.weight_stashing:pipedream",
    answer="a list of pairs such as ('F', 0) or ('drop', 0)",
)
