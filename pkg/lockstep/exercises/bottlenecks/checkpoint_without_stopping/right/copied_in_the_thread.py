"""The thread copies, and the training waits for the copy."""

import threading


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed, thread = [], None

    def write(step, is_copied):
        copy = {name: tensor.clone() for name, tensor in state.items()}
        is_copied.set()
        try:
            disk.write("checkpoint.part", copy)
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(step)

    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            if thread:
                thread.join()
            is_copied = threading.Event()
            thread = threading.Thread(target=write, args=(step, is_copied))
            thread.start()
            is_copied.wait()
    if thread:
        thread.join()
    return failed
