"""The fewest seconds a gradient."""


def backup_workers(seconds):
    N = len(seconds[0])

    def each(b):
        return sum(sorted(step, reverse=True)[b] for step in seconds) / (N - b)

    return min(range(N), key=each)
