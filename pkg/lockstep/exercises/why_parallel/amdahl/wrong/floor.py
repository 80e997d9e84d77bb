"""The learner thought: // is the sign for dividing."""

MISCONCEPTION = "floor-division"
TELL = "These are whole numbers, as // gives them: it drops what stands behind the point, and p // s is 0. Write /."


def amdahl(p, s):
    serial, parallel = 1 - p, p // s
    return 1 // (serial + parallel) if serial + parallel else float(s)
