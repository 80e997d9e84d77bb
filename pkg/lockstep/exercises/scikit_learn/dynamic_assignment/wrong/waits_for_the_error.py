"""The learner thought: when all is done, wait says so."""

MISCONCEPTION = "misused-nobody"


def dynamic_assignment(rows, pool):
    pixels = [None] * rows
    begun = min(rows, pool.workers)
    for worker in range(begun):
        pool.start(worker, worker)
    while True:
        try:
            worker, row, pixels[row] = pool.wait()
        except Exception:
            return pixels
        if begun < rows:
            pool.start(worker, begun)
            begun += 1
