"""The learner thought: turn everything up, and look what grows."""

MISCONCEPTION = "knobs-together"
TELL = (
    "These are the answers that all knobs give when they are turned up together: nobody can tell which of them "
    "it was. Turn up one, and leave the others at 1."
)


def classify_parallelism(measure):
    alone, turned = measure(), measure(openmp=2, blas=2, n_jobs=2)
    if turned.elsewhere - alone.elsewhere < 0.25:
        return "serial"
    return "processes" if turned.children > turned.helpers else "threads"
