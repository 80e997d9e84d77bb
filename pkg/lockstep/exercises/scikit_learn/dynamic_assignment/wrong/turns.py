"""The learner thought: dealt like cards, the rows are shared fairly."""

MISCONCEPTION = "idle-workers"
TELL = "Each worker has its own rows, every K-th one, and keeps to them. Who is done takes no row of the others: give the next row to whoever is done."


def dynamic_assignment(rows, pool):
    K = pool.workers
    pixels = [None] * rows
    for worker in range(min(K, rows)):
        pool.start(worker, worker)
    for _ in range(rows):
        worker, row, pixels[row] = pool.wait()
        if row + K < rows:
            pool.start(worker, row + K)
    return pixels
