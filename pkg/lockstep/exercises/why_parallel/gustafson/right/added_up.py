"""The work of each worker, added up."""


def gustafson(p, s):
    return sum(1 if worker == 0 else p for worker in range(s))
