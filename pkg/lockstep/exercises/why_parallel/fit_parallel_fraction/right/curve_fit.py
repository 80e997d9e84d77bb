"""scipy fits any curve by least squares: here Amdahl's."""

import numpy as np
from scipy.optimize import curve_fit


def fit_parallel_fraction(workers, times):
    def law(s, p, seconds):
        return seconds * ((1 - p) + p / s)

    (p, _), _ = curve_fit(law, np.array(workers, dtype=float), np.array(times), p0=(0.5, max(times)))
    return float(p)
