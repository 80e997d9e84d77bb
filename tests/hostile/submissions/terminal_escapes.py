"""It writes what clears a terminal, renames its window and turns text round, and raises it."""
# points: 0


def amdahl(p, s):
    evil = "\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"
    print(evil)
    raise ValueError(evil)
