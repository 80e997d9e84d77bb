"""The learner thought: each stage may choose its own order."""

MISCONCEPTION = "orders-differ"
TELL = "Your stages take micro-batches in different orders. Messages between two stages arrive in the order in which they were sent."


def draw_the_schedule(stages, micro_batches, cap):
    p, m = stages, micro_batches
    rows = [[".."] * (2 * m * p) for _ in range(p)]
    for i in range(m):
        for s in range(p):
            rows[s][2 * p * i + s] = f"F{i}"
            rows[s][2 * p * i + 2 * p - 1 - s] = f"B{i}"
    swap = {"F0": "F1", "F1": "F0", "B0": "B1", "B1": "B0"}
    f0, f1 = 2 * p - 2, 2 * p - 1
    rows = [[".."] * (2 * p) + row for row in rows]
    last = rows[p - 1]
    a, b = last.index("F0"), last.index("F1")
    return [row[: 2 * p] + [swap.get(c, c) for c in row[2 * p :]] if s == 0 else row for s, row in enumerate(rows)]
