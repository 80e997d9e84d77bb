"""The learner thought: GPipe is the schedule, whatever the cap is."""

MISCONCEPTION = "ignores-the-cap"
TELL = "You draw all F, then all B: stage 0 keeps all micro-batches, whatever the cap is."


def draw_the_schedule(stages, micro_batches, cap):
    p, m = stages, micro_batches
    rows = [[".."] * (2 * (m + p - 1)) for _ in range(p)]
    for s in range(p):
        for i in range(m):
            rows[s][s + i] = f"F{i}"
            rows[s][m + 2 * p - 2 - s + i] = f"B{i}"
    return rows
