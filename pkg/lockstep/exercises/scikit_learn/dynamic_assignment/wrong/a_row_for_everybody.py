"""The learner thought: there are rows for all."""

MISCONCEPTION = "misused-unknown"
TELL = "You start a row on every worker, though there may be fewer rows than workers: begin with min(workers, rows)."


def dynamic_assignment(rows, pool):
    result = [None] * rows
    for worker in range(pool.workers):
        pool.start(worker, worker)
    next_row = pool.workers
    for _ in range(rows):
        worker, row, pixels = pool.wait()
        result[row] = pixels
        if next_row < rows:
            pool.start(worker, next_row)
            next_row += 1
    return result
