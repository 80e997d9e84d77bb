"""The learner thought: a knob counts if the share grows by a factor."""

MISCONCEPTION = "crashed:RankRaised"
RAISES = "^ZeroDivisionError"
TELL = (
    "With every knob at 1 others may do nothing at all, and a ratio to nothing is no number. Compare by a difference: "
    ".elsewhere with a knob at 2, less .elsewhere with every knob at 1."
)


def classify_parallelism(measure):
    alone = measure().elsewhere
    for knob in ("openmp", "blas", "n_jobs"):
        turned = measure(**{knob: 2})
        if turned.elsewhere / alone > 1.25:
            return knob if knob != "n_jobs" else "processes" if turned.children > turned.helpers else "threads"
    return "serial"
