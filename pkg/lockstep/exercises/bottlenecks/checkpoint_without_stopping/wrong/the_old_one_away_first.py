"""The learner thought: the old file must make room before the new one has its name."""

MISCONCEPTION = "no-file-between"

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed, good = [], []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
            if good:
                disk.rename("checkpoint", "checkpoint.old")
            disk.rename("checkpoint.part", "checkpoint")
            good.append(step)
        except OSError:
            failed.append(step)

    with ThreadPoolExecutor(1) as pool:
        last = None
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(write, step, {name: tensor.clone() for name, tensor in state.items()})
    return failed
