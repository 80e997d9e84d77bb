"""The learner thought: the last write ends by itself."""

MISCONCEPTION = "returns-too-early"
ALSO = ["thread-stays"]

import threading


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(step)

    last = None
    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            if last:
                last.join()
            last = threading.Thread(target=write, args=(step, {name: tensor.clone() for name, tensor in state.items()}))
            last.start()
    return failed
