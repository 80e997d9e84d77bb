"""The learner thought: start, then wait."""

MISCONCEPTION = "idle-workers"
TELL = "You wait for each row before you start the next one, so one worker computes at a time. Start a row for every worker first."


def dynamic_assignment(rows, pool):
    pixels = []
    for row in range(rows):
        pool.start(row % pool.workers, row)
        pixels.append(pool.wait()[2])
    return pixels
