"""One loop over the rows, and one for those that are still being computed."""


def dynamic_assignment(rows, pool):
    result = [None] * rows
    for row in range(rows):
        if row < pool.workers:
            worker = row
        else:
            worker, finished, pixels = pool.wait()
            result[finished] = pixels
        pool.start(worker, row)
    for _ in range(min(rows, pool.workers)):
        _, finished, pixels = pool.wait()
        result[finished] = pixels
    return result
