"""The learner thought: a step needs two machines at least."""

MISCONCEPTION = "never-all-but-one"
TELL = "You don't try N - 1 backup workers. Then a step ends with its fastest machine, and uses one gradient."


def backup_workers(seconds):
    N = len(seconds[0])
    rates = [(N - b) / sum(sorted(step)[N - 1 - b] for step in seconds) for b in range(max(1, N - 1))]
    return rates.index(max(rates))
