"""Counts who is busy, and takes the last rows first."""


def dynamic_assignment(rows, pool):
    image, todo, busy = {}, list(range(rows)), 0
    for worker in range(pool.workers):
        if todo:
            pool.start(worker, todo.pop())
            busy += 1
    while busy:
        worker, row, pixels = pool.wait()
        image[row] = pixels
        busy -= 1
        if todo:
            pool.start(worker, todo.pop())
            busy += 1
    return [image[row] for row in range(rows)]
