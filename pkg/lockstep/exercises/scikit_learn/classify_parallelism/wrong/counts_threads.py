"""The learner thought: where there are more threads, there is more parallelism."""

MISCONCEPTION = "counts-threads"
TELL = (
    "These are the answers that counting threads gives. Pools of threads live on idle: a thread that is there "
    "need not work, and processes have none here. Look at who spent the CPU time."
)


def classify_parallelism(measure):
    alone = measure().threads
    for knob, kind in (("openmp", "openmp"), ("blas", "blas"), ("n_jobs", "threads")):
        if measure(**{knob: 2}).threads > alone:
            return kind
    return "serial"
