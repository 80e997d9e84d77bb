"""Interleaved 1F1B: its rules allow one stream only, and the first step that breaks a rule is reported."""

from lockstep.exercises.pipeline.judged_streams import each, of_all_stages, streams
from lockstep.pipeline.schedules_as_pairs import not_interleaved

EXERCISE = streams(
    {
        "p = 2, m = 4 and v = 2": of_all_stages((2, 4, 2)),
        "p = 3, m = 9 and v = 2": of_all_stages((3, 9, 2)),
        "three chunks": of_all_stages((4, 8, 3)),
        "a warm-up longer than all F": of_all_stages((4, 4, 2), (8, 8, 2)),
        "one group": of_all_stages((3, 3, 4)),
        "one stage": of_all_stages((1, 3, 2)),
    },
    mistakes=each(not_interleaved),
    kinds=("F", "B"),
    length=3,
    trivial=("one stage",),
    number=6,
    core=False,
    title="Thinner slices",
    points=3,
    minutes=25,
    parameters="stage, stages, micro_batches, chunks",
    reference="lockstep.pipeline.schedules_as_pairs:interleaved",
    answer="a list of triples such as ('F', 0, 1)",
)
