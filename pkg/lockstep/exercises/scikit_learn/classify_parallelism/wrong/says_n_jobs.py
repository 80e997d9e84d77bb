"""The learner thought: the answer is the knob."""

MISCONCEPTION = "says-the-knob"
TELL = (
    'You return the knob. If it is n_jobs, who works? Return "processes" where .children grows more than '
    '.helpers, or else "threads".'
)


def classify_parallelism(measure):
    alone = measure().elsewhere
    shares = {knob: measure(**{knob: 2}).elsewhere - alone for knob in ("openmp", "blas", "n_jobs")}
    knob = max(shares, key=shares.get)
    return knob if shares[knob] >= 0.25 else "serial"
