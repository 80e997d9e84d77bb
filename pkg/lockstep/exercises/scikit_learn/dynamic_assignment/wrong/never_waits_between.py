"""The learner thought: a worker keeps a queue."""

MISCONCEPTION = "misused-busy"
TELL = "You start all rows before you wait for any. A worker computes one row and has no queue: wait until one is done."


def dynamic_assignment(rows, pool):
    result = [None] * rows
    for row in range(rows):
        pool.start(row % pool.workers, row)
    for _ in range(rows):
        _, row, pixels = pool.wait()
        result[row] = pixels
    return result
