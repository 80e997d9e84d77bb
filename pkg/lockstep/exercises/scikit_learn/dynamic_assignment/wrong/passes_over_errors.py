"""The learner thought: whoever is not idle says so."""

MISCONCEPTION = "misused-busy"


def dynamic_assignment(rows, pool):
    pixels = [None] * rows
    begun = 0
    for _ in range(rows):
        for worker in range(pool.workers):
            if begun < rows:
                try:
                    pool.start(worker, begun)
                    begun += 1
                except Exception:
                    pass
        worker, row, pixels[row] = pool.wait()
    return pixels
