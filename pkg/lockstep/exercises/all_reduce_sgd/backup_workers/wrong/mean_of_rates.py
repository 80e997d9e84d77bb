"""The learner thought: the rate of each step, and the mean of these over all steps."""

MISCONCEPTION = "mean-of-rates"
TELL = "You average the rates of the steps. A long step then counts as much as a short one, and it should count more: divide all gradients by all seconds."


def backup_workers(seconds):
    N = len(seconds[0])

    def rate(b):
        return sum((N - b) / sorted(step)[N - b - 1] for step in seconds) / len(seconds)

    return max(range(N), key=rate)
