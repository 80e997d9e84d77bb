"""The learner turned up one knob after the other, and compared each time with the measurement before."""

MISCONCEPTION = "knobs-left-up"
TELL = (
    "You leave a knob turned up while you turn the next one. What both move together says nothing of one: measure each "
    "knob with the others at 1."
)
VARIANTS = ["left_up_from_the_first"]


def classify_parallelism(measure):
    before, turned = measure(), {}
    for knob in ("openmp", "blas", "n_jobs"):
        turned[knob] = 2
        used = measure(**turned)
        if used.elsewhere - before.elsewhere >= 0.25:
            more = used.children - before.children > used.helpers - before.helpers
            return knob if knob != "n_jobs" else "processes" if more else "threads"
        before = used
    return "serial"
