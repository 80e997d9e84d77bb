"""The learner thought: fill the cap, empty it, and begin again."""

MISCONCEPTION = "flushes-groups"
TELL = "You empty the pipeline after each group of micro-batches. Each stage could begin the next F while the others still go back."


def draw_the_schedule(stages, micro_batches, cap):
    order = []
    for first in range(0, micro_batches, cap):
        group = range(first, min(first + cap, micro_batches))
        order += [("F", i, s) for i in group for s in range(stages)]
        order += [("B", i, s) for i in group for s in reversed(range(stages))]
    rows = [[] for _ in range(stages)]
    at, free = {}, 0
    for first in range(0, micro_batches, cap):
        group = [o for o in order if first <= o[1] < first + cap]
        rows = [row + [".."] * (free - len(row)) for row in rows]
        for kind, i, s in group:
            needs = (kind, i, s - 1) if kind == "F" else ("F", i, s) if s == stages - 1 else (kind, i, s + 1)
            begin = max(len(rows[s]), at.get(needs, -1) + 1)
            rows[s] += [".."] * (begin - len(rows[s])) + [f"{kind}{i}"]
            at[kind, i, s] = begin
        free = max(map(len, rows))
    return rows
