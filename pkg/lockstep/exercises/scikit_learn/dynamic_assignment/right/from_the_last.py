"""From the last row to the first, with a list of idle workers and a dictionary of what came back."""


def dynamic_assignment(rows, pool):
    idle, left, found = list(range(pool.workers)), list(range(rows)), {}
    while len(found) < rows:
        while idle and left:
            pool.start(idle.pop(), left.pop())
        worker, row, pixels = pool.wait()
        found[row] = pixels
        idle.append(worker)
    return [found[row] for row in range(rows)]
