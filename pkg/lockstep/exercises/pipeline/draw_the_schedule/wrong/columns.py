"""The learner thought: the drawing is a list of slots."""

MISCONCEPTION = "wrong-type"


def draw_the_schedule(stages, micro_batches, cap):
    p, m = stages, micro_batches
    rows = [[".."] * (2 * m * p) for _ in range(p)]
    for i in range(m):
        for s in range(p):
            rows[s][2 * p * i + s] = f"F{i}"
            rows[s][2 * p * i + 2 * p - 1 - s] = f"B{i}"
    return [list(column) for column in zip(*rows)]
