"""The learner thought: a daemon needs no end."""

MISCONCEPTION = "thread-stays"

import queue
import threading


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    tasks, failed = queue.Queue(), []

    def writes():
        while True:
            step, copy = tasks.get()
            try:
                disk.write("checkpoint.part", copy)
                disk.rename("checkpoint.part", "checkpoint")
            except OSError:
                failed.append(step)
            tasks.task_done()

    threading.Thread(target=writes, daemon=True).start()
    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            tasks.join()
            tasks.put((step, {name: tensor.clone() for name, tensor in state.items()}))
    tasks.join()
    return failed
