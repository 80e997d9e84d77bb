"""The learner thought: what is in B just now is no longer kept."""

MISCONCEPTION = "keeps-one-more"
TELL = "You keep one micro-batch more than the cap."


def draw_the_schedule(stages, micro_batches, cap):
    rows, f, b = [[] for _ in range(stages)], [0] * stages, [0] * stages
    while b[0] < micro_batches:
        went, came = list(f), list(b)
        for s in range(stages):
            if b[s] < (came[s + 1] if s + 1 < stages else went[s]):
                rows[s].append(f"B{b[s]}")
                b[s] += 1
            elif f[s] < (went[s - 1] if s else micro_batches) and f[s] - b[s] < min(cap + 1, stages - s + 1):
                rows[s].append(f"F{f[s]}")
                f[s] += 1
            else:
                rows[s].append("..")
    return rows
