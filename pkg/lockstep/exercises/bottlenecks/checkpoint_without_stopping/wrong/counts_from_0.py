"""The learner thought: steps are counted from 0."""

MISCONCEPTION = "wrong-step"

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
        last = None
        for step in range(steps):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(write, step, {name: tensor.clone() for name, tensor in state.items()})
    return failed
