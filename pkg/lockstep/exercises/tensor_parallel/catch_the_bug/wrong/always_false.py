"""The learner thought: ten of twelve are wrong."""

MISCONCEPTION = "rejects-right-answers"


def catch_the_bug(parallel, serial):
    return False
