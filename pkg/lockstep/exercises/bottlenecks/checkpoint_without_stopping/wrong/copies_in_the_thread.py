"""The learner thought: the thread copies, so that the training need not."""

MISCONCEPTION = "later-state"
ALSO = ["tries-again", "mixed-state"]

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step):
        copy = {name: tensor.clone() for name, tensor in state.items()}
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
                last = pool.submit(write, step)
    return failed
