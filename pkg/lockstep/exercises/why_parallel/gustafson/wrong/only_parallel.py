"""The learner thought: only the parallel part is work."""

MISCONCEPTION = "forgets-serial-part"
TELL = (
    "This is p * s, the work of the parallel part alone. The serial part was done as well: one worker needs the "
    "time for it, too."
)


def gustafson(p, s):
    return p * s
