"""The learner thought: it takes n_jobs, so it is parallel by n_jobs."""

MISCONCEPTION = "n_jobs-is-believed"
TELL = (
    "You answer threads or processes where neither OpenMP nor BLAS counts. Every fit here takes n_jobs, and some "
    "ignore it: does .elsewhere grow with n_jobs=2?"
)


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob in ("openmp", "blas"):
        if measure(**{knob: 2}).elsewhere - alone >= 0.25:
            return knob
    run = measure(n_jobs=2)
    return "processes" if run.children > run.helpers else "threads"
