"""The learner thought: what runs in parallel is faster."""

MISCONCEPTION = "wall-clock"
TELL = (
    "These are the answers that the clock on the wall gives. It tells how busy the machine is; a fit that more "
    "workers slow down uses them all the same. Look at who spent the CPU time."
)


def classify_parallelism(measure):
    alone = measure().wall
    for knob, kind in (("openmp", "openmp"), ("blas", "blas"), ("n_jobs", "processes")):
        if measure(**{knob: 2}).wall < 0.7 * alone:
            return kind
    return "serial"
