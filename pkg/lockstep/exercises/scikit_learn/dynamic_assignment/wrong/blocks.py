"""The learner thought: equal numbers of rows are equal work."""

MISCONCEPTION = "idle-workers"
TELL = "Who computes a row is decided before anybody knows what it takes: this is static. Give the next row to whoever is done."


def dynamic_assignment(rows, pool):
    cut = [rows * worker // pool.workers for worker in range(pool.workers + 1)]
    parts = [list(range(a, b)) for a, b in zip(cut, cut[1:], strict=False)]
    pixels = [None] * rows
    for worker, part in enumerate(parts):
        if part:
            pool.start(worker, part.pop(0))
    for _ in range(rows):
        worker, row, pixels[row] = pool.wait()
        if parts[worker]:
            pool.start(worker, parts[worker].pop(0))
    return pixels
