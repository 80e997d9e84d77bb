"""The learner thought: each checkpoint has a thread of its own."""

MISCONCEPTION = "two-at-once"
ALSO = ["copy-waits", "no-such-file", "part-of-a-file"]

import threading


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(step)

    threads = []
    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            threads.append(
                threading.Thread(target=write, args=(step, {name: tensor.clone() for name, tensor in state.items()}))
            )
            threads[-1].start()
    for thread in threads:
        thread.join()
    return sorted(failed)
