"""The learner thought: what runs in parallel is faster."""

MISCONCEPTION = "wall-clock"


def classify_parallelism(measure):
    alone = measure().wall
    for knob, kind in (("openmp", "openmp"), ("blas", "blas"), ("n_jobs", "processes")):
        if measure(**{knob: 2}).wall < 0.7 * alone:
            return kind
    return "serial"
