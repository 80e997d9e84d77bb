"""The learner thought: joblib starts processes, so n_jobs means processes."""

MISCONCEPTION = "n_jobs-is-processes"
TELL = "You answer processes wherever n_jobs counts. It may start threads, too: which of .children and .helpers grows?"


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob, kind in (("openmp", "openmp"), ("blas", "blas"), ("n_jobs", "processes")):
        if measure(**{knob: 2}).elsewhere - alone >= 0.25:
            return kind
    return "serial"
