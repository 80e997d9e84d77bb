"""The learner thought: // is the sign for dividing."""

MISCONCEPTION = "floor-division"


def amdahl(p, s):
    serial, parallel = 1 - p, p // s
    return 1 // (serial + parallel) if serial + parallel else float(s)
