"""The learner thought: the warm-up fills the pipeline, so it is as long as the pipeline everywhere."""

MISCONCEPTION = "warm-up-of-all"
TELL = "Every stage begins with as many F as stage 0. Stage s has only p - s - 1 stages behind it."


def one_f_one_b(stage, stages, micro_batches):
    warm_up = min(stages - 1, micro_batches)
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("F", i), ("B", i - warm_up)]
    return stream + [("B", i) for i in range(micro_batches - warm_up, micro_batches)]
