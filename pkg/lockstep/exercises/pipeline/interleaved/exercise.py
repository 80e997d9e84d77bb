"""Interleaved 1F1B: its rules leave one stream, and the first step that breaks one is told."""

from lockstep.exercises.pipeline.judged_streams import each, of_all_stages, streams
from lockstep.pipeline.as_pairs import not_interleaved

EXERCISE = streams(
    {
        "p = 2, m = 4 and v = 2": of_all_stages((2, 4, 2)),
        "p = 3, m = 9 and v = 2": of_all_stages((3, 9, 2)),
        "three chunks": of_all_stages((4, 8, 3)),
        "a warm-up longer than all F": of_all_stages((4, 4, 2), (8, 8, 2)),
        "one group": of_all_stages((3, 3, 4)),
        "one stage": of_all_stages((1, 3, 2)),
    },
    each(not_interleaved), ("F", "B"), 3, trivial=("one stage",), number=6, core=False, title="Thinner slices",
    points=3, minutes=25, parameters="stage, stages, micro_batches, chunks",
    reference="lockstep.pipeline.as_pairs:interleaved", asked="a list of triples such as ('F', 0, 1)",
)  # fmt: skip
