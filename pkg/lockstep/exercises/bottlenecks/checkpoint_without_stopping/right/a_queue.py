"""One thread for all, and a queue of one."""

import copy
import queue
import threading


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    tasks, failed = queue.Queue(1), []

    def writes():
        while (task := tasks.get()) is not None:
            step, copied = task
            try:
                disk.write(f"checkpoint-{step}", copied)
                disk.rename(f"checkpoint-{step}", "checkpoint")
            except OSError:
                failed.append(step)
            finally:
                tasks.task_done()

    thread = threading.Thread(target=writes)
    thread.start()
    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            tasks.join()
            tasks.put((step, copy.deepcopy(state)))
    tasks.put(None)
    thread.join()
    return failed
