"""An exact fraction, which is a number too."""

from fractions import Fraction


def amdahl(p, s):
    p = Fraction(p)
    return 1 / ((1 - p) + p / s)
