"""The learner thought: of equal ones either is right."""

MISCONCEPTION = "largest-of-equals"
TELL = "Several numbers are equally good here, and you return the largest. The smallest is wanted."


def backup_workers(seconds):
    N = len(seconds[0])
    rates = [(N - b) / sum(sorted(step)[N - b - 1] for step in seconds) for b in range(N)]
    return max(range(N), key=lambda b: (rates[b], b))
