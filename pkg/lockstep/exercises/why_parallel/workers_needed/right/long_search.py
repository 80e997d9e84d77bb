"""A search that ends, after 40,000 workers."""


def workers_needed(hours, p, deadline):
    for s in range(1, 40_000):
        if hours * ((1 - p) + p / s) <= deadline:
            return s
    return None
