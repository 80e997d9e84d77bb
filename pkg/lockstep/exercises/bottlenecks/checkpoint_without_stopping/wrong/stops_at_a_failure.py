"""The learner thought: after a failure the thread writes no more."""

MISCONCEPTION = "left-out"
ALSO = ["begins-late"]

import queue
import threading


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    tasks, failed = queue.Queue(), []
    idle = threading.Semaphore(1)

    def writes():
        try:
            while task := tasks.get():
                step, copy = task
                disk.write("checkpoint.part", copy)
                disk.rename("checkpoint.part", "checkpoint")
                idle.release()
        except OSError:
            failed.append(step)
            idle.release()

    thread = threading.Thread(target=writes)
    thread.start()
    for step in range(1, steps + 1):
        train_step()
        if step % every == 0 and thread.is_alive():
            idle.acquire()
            tasks.put((step, {name: tensor.clone() for name, tensor in state.items()}))
    tasks.put(None)
    thread.join()
    return failed
