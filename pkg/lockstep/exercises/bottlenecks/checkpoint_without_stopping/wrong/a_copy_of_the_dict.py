"""The learner thought: dict(state) is a copy of the state."""

MISCONCEPTION = "changes-while-written"
ALSO = ["later-state", "tries-again", "mixed-state"]

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(step)

    with ThreadPoolExecutor(1) as pool:
        last = None
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(write, step, dict(state))
    return failed
