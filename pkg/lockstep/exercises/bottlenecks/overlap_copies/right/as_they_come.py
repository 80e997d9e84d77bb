"""One loop; a copy is launched when the step that it waits for was launched."""


def overlap_copies(gpu, batches, buffers):
    copied = {}
    last = {}
    for turn in range(batches + buffers - 1):
        if turn < batches:
            place = turn % buffers
            copied[turn] = gpu.copy(turn, place, [last[place]] if place in last else ())
        step = turn - buffers + 1
        if step >= 0:
            last[step % buffers] = gpu.compute(step, step % buffers, (copied[step],))
