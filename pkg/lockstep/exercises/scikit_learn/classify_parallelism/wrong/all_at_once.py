"""The learner thought: turn everything up, and look what grows."""

MISCONCEPTION = "knobs-together"


def classify_parallelism(measure):
    alone, turned = measure(), measure(openmp=2, blas=2, n_jobs=2)
    if turned.elsewhere - alone.elsewhere < 0.2:
        return "serial"
    return "processes" if turned.children > turned.helpers else "threads"
