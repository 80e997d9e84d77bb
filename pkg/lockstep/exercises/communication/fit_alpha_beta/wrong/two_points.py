"""The learner thought: two points make a line, so the others are not needed."""

MISCONCEPTION = "two-points-only"
TELL = "Two points make your line, and their noise is in it: use all of them."


def fit_alpha_beta(nbytes, seconds):
    samples = sorted(zip(nbytes, seconds, strict=True))
    (n0, t0), (n1, t1) = samples[0], samples[-1]
    beta = (t1 - t0) / (n1 - n0)
    return t0 - n0 * beta, beta
