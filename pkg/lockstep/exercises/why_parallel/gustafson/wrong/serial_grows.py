"""The learner thought: all of the work grows with the workers."""

MISCONCEPTION = "serial-part-grows"
TELL = (
    "This is s: it would be right if all workers were busy all the time. During the share 1 - p only one of them works."
)


def gustafson(p, s):
    return (1 - p) * s + p * s
