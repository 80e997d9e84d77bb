"""The learner thought: the rows end in the order in which they began."""

MISCONCEPTION = "wrong-results"
TELL = "You append the rows as they end. Light rows end before heavy ones that began earlier: put each in its place, pixels[row] = ..."


def dynamic_assignment(rows, pool):
    result, next_row = [], 0
    for worker in range(min(rows, pool.workers)):
        pool.start(worker, next_row)
        next_row += 1
    while len(result) < rows:
        worker, row, pixels = pool.wait()
        result.append(pixels)
        if next_row < rows:
            pool.start(worker, next_row)
            next_row += 1
    return result
