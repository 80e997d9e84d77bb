"""The learner thought: a default argument is made anew for each call."""

MISCONCEPTION = "wrong-results"


def dynamic_assignment(rows, pool, found={}):
    begun = min(rows, pool.workers)
    for worker in range(begun):
        pool.start(worker, worker)
    for _ in range(rows):
        worker, row, pixels = pool.wait()
        found.setdefault(row, pixels)
        if begun < rows:
            pool.start(worker, begun)
            begun += 1
    return [found[row] for row in range(rows)]
