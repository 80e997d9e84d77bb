"""The learner thought: GPipe, with B in ascending order."""

MISCONCEPTION = "all-forward-first"
TELL = "This is GPipe: all forward passes, then all backward passes. It takes no longer, but stage 0 keeps all micro-batches at once."


def one_f_one_b(stage, stages, micro_batches):
    return [("F", i) for i in range(micro_batches)] + [("B", i) for i in range(micro_batches)]
