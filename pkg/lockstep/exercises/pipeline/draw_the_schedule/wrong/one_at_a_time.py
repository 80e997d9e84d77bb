"""The learner thought: the cap is for all stages together."""

MISCONCEPTION = "one-micro-batch-at-a-time"
TELL = "One micro-batch goes all the way and back before the next one begins: one stage works at a time. The cap is for each stage."


def draw_the_schedule(stages, micro_batches, cap):
    p, m = stages, micro_batches
    rows = [[".."] * (2 * m * p) for _ in range(p)]
    for i in range(m):
        for s in range(p):
            rows[s][2 * p * i + s] = f"F{i}"
            rows[s][2 * p * i + 2 * p - 1 - s] = f"B{i}"
    return rows
