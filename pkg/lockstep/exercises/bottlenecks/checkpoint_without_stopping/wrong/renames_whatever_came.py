"""The learner thought: in the end the file gets its name."""

MISCONCEPTION = "part-of-a-file"

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
        except OSError:
            failed.append(step)
        finally:
            disk.rename("checkpoint.part", "checkpoint")

    with ThreadPoolExecutor(1) as pool:
        last = None
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(write, step, {name: tensor.clone() for name, tensor in state.items()})
    return failed
