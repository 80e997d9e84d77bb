"""The learner thought: a future's error belongs to the caller."""

MISCONCEPTION = "failure-stops-all"
ALSO = ["wrong-failures"]

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(copy):
        disk.write("checkpoint.part", copy)
        disk.rename("checkpoint.part", "checkpoint")

    with ThreadPoolExecutor(1) as pool:
        last = None
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(write, {name: tensor.clone() for name, tensor in state.items()})
    return failed
