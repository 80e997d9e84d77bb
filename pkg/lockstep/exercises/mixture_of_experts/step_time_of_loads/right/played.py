"""The clock is moved on, from wait to wait."""


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, each = len(loads), len(loads[0]) // len(loads)
    rows = [0] * K
    for row in loads:
        for e, n in enumerate(row):
            rows[e // each] += n
    lasts = (K - 1) * (alpha + row_bytes * max([sum(row) for row in loads] + rows) / K * beta)
    ready = [lasts + n * seconds for n in rows]
    return max(ready) + lasts
