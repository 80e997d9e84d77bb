"""The learner thought: the trainer renames when it comes to the next checkpoint."""

MISCONCEPTION = "not-the-last"
ALSO = ["wrong-failures", "renamed-late"]

from concurrent.futures import ThreadPoolExecutor


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    def write(copy):
        disk.write("checkpoint.part", copy)

    def finished(last):
        try:
            last[1].result()
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(last[0])

    failed, last = [], None
    with ThreadPoolExecutor(1) as pool:
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    finished(last)
                last = step, pool.submit(write, {name: tensor.clone() for name, tensor in state.items()})
    return failed
