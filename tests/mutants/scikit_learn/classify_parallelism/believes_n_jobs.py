"""The learner thought: it takes n_jobs, so it is parallel by n_jobs."""

MISCONCEPTION = "n_jobs-is-believed"


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere - alone > 0.2:
            return knob
    run = measure(n_jobs=2)
    return "processes" if run.children > run.helpers else "threads"
