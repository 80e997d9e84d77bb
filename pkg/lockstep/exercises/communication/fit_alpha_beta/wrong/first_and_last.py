"""The learner thought: the first and the last measurement are the smallest and the largest."""

MISCONCEPTION = "wrong-values"


def fit_alpha_beta(nbytes, seconds):
    beta = (seconds[-1] - seconds[0]) / (nbytes[-1] - nbytes[0])
    return seconds[0] - nbytes[0] * beta, beta
