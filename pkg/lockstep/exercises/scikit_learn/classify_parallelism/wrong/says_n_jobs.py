"""The learner thought: the answer is the knob."""

MISCONCEPTION = "wrong-type"


def classify_parallelism(measure):
    alone = measure().elsewhere
    shares = {knob: measure(**{knob: 2}).elsewhere - alone for knob in ("openmp", "blas", "n_jobs")}
    knob = max(shares, key=shares.get)
    return knob if shares[knob] > 0.2 else "serial"
