"""The learner thought: ** multiplies."""

MISCONCEPTION = "power"
TELL = "This is (1 - p) + p**s, and ** is a power. The share p counts s times: that is a product."


def gustafson(p, s):
    return (1 - p) + p**s
