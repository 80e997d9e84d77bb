"""The learner thought: a write between two steps is a write."""

MISCONCEPTION = "training-waits"


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    failed = []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(step)

    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            write(step, {name: tensor.clone() for name, tensor in state.items()})
    return failed
