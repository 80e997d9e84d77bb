"""The learner thought: the later the stage, the longer the warm-up."""

MISCONCEPTION = "warm-up-by-stage"
TELL = "Your warm-up grows with the number of the stage. Stage 0 waits the longest for its first B, so it has the most F before it."


def one_f_one_b(stage, stages, micro_batches):
    warm_up = min(stage, micro_batches)
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("F", i), ("B", i - warm_up)]
    return stream + [("B", i) for i in range(micro_batches - warm_up, micro_batches)]
