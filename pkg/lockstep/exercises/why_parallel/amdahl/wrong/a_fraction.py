"""The learner thought: an exact fraction is better than a float."""

from fractions import Fraction

MISCONCEPTION = "wrong-type"


def amdahl(p, s):
    p = Fraction(p)
    return 1 / ((1 - p) + p / s)
