"""The learner turned up one knob after the other, and compared each time with the first measurement."""

MISCONCEPTION = "knobs-left-up"
TELL = (
    "You leave a knob turned up while you turn the next one. What both move together says nothing of one: measure each "
    "knob with the others at 1."
)
VARIANTS = ["left_up"]


def classify_parallelism(measure):
    alone, turned = measure(), {}
    for knob in ("openmp", "blas", "n_jobs"):
        turned[knob] = 2
        used = measure(**turned)
        if used.elsewhere - alone.elsewhere >= 0.25:
            break
    else:
        return "serial"
    more = used.children - alone.children > used.helpers - alone.helpers
    return knob if knob != "n_jobs" else "processes" if more else "threads"
