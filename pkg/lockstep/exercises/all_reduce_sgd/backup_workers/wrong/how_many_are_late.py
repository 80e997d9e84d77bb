"""The learner thought: whoever takes more than twice as long as the median is late; as many backup workers as are late at most."""

MISCONCEPTION = "counts-the-late"
TELL = "You count who is late. To wait for them may cost less than to throw their gradients away: compare the gradients a second for each b."


def backup_workers(seconds):
    def late(step):
        median = sorted(step)[len(step) // 2]
        return sum(s > 2 * median for s in step)

    return max(late(step) for step in seconds)
