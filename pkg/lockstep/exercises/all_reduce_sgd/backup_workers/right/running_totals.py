"""Adds up column by column of the sorted steps."""


def backup_workers(seconds):
    columns = list(zip(*map(sorted, seconds)))
    N, best, most = len(columns), 0, 0.0
    for b in range(N):
        rate = (N - b) / sum(columns[N - 1 - b])
        if rate > most:
            best, most = b, rate
    return best
