"""The learner thought: a write that fails is tried once more."""

MISCONCEPTION = "tries-again"

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step, copy):
        for _ in range(2):
            try:
                disk.write("checkpoint.part", copy)
                disk.rename("checkpoint.part", "checkpoint")
                return
            except OSError:
                pass
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
