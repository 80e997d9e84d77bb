"""The learner thought: a result is there in the slot in which it is computed."""

MISCONCEPTION = "no-slot-between"
TELL = "Your F stands in the same slot as F of the stage before. What a slot computes is there in the next one."


def draw_the_schedule(stages, micro_batches, cap):
    p, m = stages, micro_batches
    rows = [[".."] * (2 * m * p) for _ in range(p)]
    for i in range(m):
        for s in range(p):
            rows[s][2 * p * i] = f"F{i}"
            rows[s][2 * p * i + p - s] = f"B{i}"
    return rows
