"""The learner solved the normal equations with arrays of float32, as one does with data."""

import numpy as np

MISCONCEPTION = "single-precision"
TELL = (
    "It is right where sizes are far apart, and wrong where they are close together: as float32, their times differ in "
    "the last digits alone. So it is with float32 anywhere. torch.tensor makes it of a list of floats: give it "
    "dtype=torch.float64."
)
VARIANTS = ["single_precision_by_hand"]


def fit_alpha_beta(nbytes, seconds):
    n, t = np.array(nbytes, dtype=np.float32), np.array(seconds, dtype=np.float32)
    count, of_n, of_t, of_nn, of_nt = np.float32(len(n)), n.sum(), t.sum(), (n * n).sum(), (n * t).sum()
    det = count * of_nn - of_n * of_n
    return (of_nn * of_t - of_n * of_nt) / det, (count * of_nt - of_n * of_t) / det
