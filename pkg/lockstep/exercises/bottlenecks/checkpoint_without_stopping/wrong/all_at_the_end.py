"""The learner thought: the disk is written when the training has time."""

MISCONCEPTION = "begins-late"


def checkpoint_without_stopping(train_step, state, steps, every, disk):
    copies, failed = [], []
    for step in range(1, steps + 1):
        train_step()
        if step % every == 0:
            copies.append((step, {name: tensor.clone() for name, tensor in state.items()}))
    for step, copy in copies:
        try:
            disk.write("checkpoint.part", copy)
            disk.rename("checkpoint.part", "checkpoint")
        except OSError:
            failed.append(step)
    return failed
