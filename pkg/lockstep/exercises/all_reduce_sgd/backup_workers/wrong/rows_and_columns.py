"""The learner thought: seconds[m][t] is what machine m took in step t."""

MISCONCEPTION = "rows-for-columns"
TELL = "You read seconds[m][t]. It is seconds[t][m]: the outer list has the steps, each with N numbers."


def backup_workers(seconds):
    N, T = len(seconds), len(seconds[0])
    rows = [sorted(seconds[m][t] for m in range(N)) for t in range(T)]
    return max(range(N), key=lambda b: (N - b) / sum(row[N - b - 1] for row in rows))
