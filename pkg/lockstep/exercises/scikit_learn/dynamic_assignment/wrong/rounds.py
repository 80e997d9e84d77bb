"""The learner thought: a row for everybody, then the next ones."""

MISCONCEPTION = "idle-workers"
TELL = "You hand out a row to everybody, and wait for all of them before you go on: each round takes as long as its slowest row. After one wait(), start one row."


def dynamic_assignment(rows, pool):
    result = [None] * rows
    for first in range(0, rows, pool.workers):
        part = range(first, min(first + pool.workers, rows))
        for worker, row in enumerate(part):
            pool.start(worker, row)
        for _ in part:
            _, row, pixels = pool.wait()
            result[row] = pixels
    return result
