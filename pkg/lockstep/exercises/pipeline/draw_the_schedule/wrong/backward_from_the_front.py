"""The learner thought: the backward pass goes from stage 0 on, too."""

MISCONCEPTION = "backward-from-stage-0"
TELL = "Your B goes from stage 0 to the last stage. Gradients come from the loss, and that is on the last stage."


def draw_the_schedule(stages, micro_batches, cap):
    p, m = stages, micro_batches
    rows = [[".."] * (2 * m * p) for _ in range(p)]
    for i in range(m):
        for s in range(p):
            rows[s][2 * p * i + s] = f"F{i}"
            rows[s][2 * p * i + p + s] = f"B{i}"
    return rows
