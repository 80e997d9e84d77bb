"""A loop that never ends."""
# status: timed out
# points: 0


def amdahl(p, s):
    while True:
        pass
