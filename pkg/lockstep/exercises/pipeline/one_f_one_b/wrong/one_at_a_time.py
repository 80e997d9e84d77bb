"""The learner thought: one forward, one backward, from the very first on."""

MISCONCEPTION = "no-warm-up"
TELL = "Without a warm-up each stage waits for the B of a micro-batch before it begins the next one: one stage works at a time."


def one_f_one_b(stage, stages, micro_batches):
    warm_up = 0
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("F", i), ("B", i - warm_up)]
    return stream + [("B", i) for i in range(micro_batches - warm_up, micro_batches)]
