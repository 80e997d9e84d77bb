"""The learner thought: if both can begin, F is more urgent, since others wait for it."""

MISCONCEPTION = "forward-before-backward"
TELL = (
    "Where F and B could both begin, you take F. B goes first: it makes room under the cap, and the stage before waits "
    "for its gradient."
)


def draw_the_schedule(stages, micro_batches, cap):
    rows, f, b = [[] for _ in range(stages)], [0] * stages, [0] * stages
    while b[0] < micro_batches:
        went, came = list(f), list(b)
        for s in range(stages):
            if f[s] < (went[s - 1] if s else micro_batches) and f[s] - b[s] < cap:
                rows[s].append(f"F{f[s]}")
                f[s] += 1
            elif b[s] < (came[s + 1] if s + 1 < stages else went[s]):
                rows[s].append(f"B{b[s]}")
                b[s] += 1
            else:
                rows[s].append("..")
    return rows
