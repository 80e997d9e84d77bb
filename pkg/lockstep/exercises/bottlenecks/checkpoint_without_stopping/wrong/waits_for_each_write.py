"""The learner thought: a thread writes, so the training is not in the way."""

MISCONCEPTION = "training-waits"

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
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                pool.submit(write, step, {name: tensor.clone() for name, tensor in state.items()}).result()
    return failed
