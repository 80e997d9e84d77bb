"""The learner thought: all rows have been handed out, so all is done."""

MISCONCEPTION = "never-fetched"
TELL = "Your loop ends when the last row has been started. As many rows as there are workers are still being computed then: wait for these, too."


def dynamic_assignment(rows, pool):
    result = [None] * rows
    for row in range(rows):
        if row < pool.workers:
            pool.start(row, row)
        else:
            worker, done, pixels = pool.wait()
            result[done] = pixels
            pool.start(worker, row)
    return result
