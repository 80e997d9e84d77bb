"""It asks somebody who is not there."""
# points: 0


def amdahl(p, s):
    return float(input("The speedup, please: "))
