"""The learner thought: the slowest machines are those that take most on average; these are left out."""

MISCONCEPTION = "same-machines-in-all-steps"
TELL = "You leave out the same machines in all steps. The slowest b may be others in each step: sort step by step."


def backup_workers(seconds):
    N = len(seconds[0])
    order = sorted(range(N), key=lambda m: sum(step[m] for step in seconds))

    def rate(b):
        return (N - b) / sum(max(step[m] for m in order[: N - b]) for step in seconds)

    return max(range(N), key=rate)
