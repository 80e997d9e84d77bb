"""One call that never comes back, and holds the interpreter: no Python code can interrupt it."""
# status: timed out
# points: 0


def amdahl(p, s):
    return sum(range(10**15))
