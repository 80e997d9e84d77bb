"""The learner thought: the cool-down is one shorter than the warm-up."""

MISCONCEPTION = "wrong-values"


def one_f_one_b(stage, stages, micro_batches):
    warm_up = min(stages - stage - 1, micro_batches)
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("F", i), ("B", i - warm_up)]
    return stream + [("B", i) for i in range(micro_batches - warm_up, micro_batches - 1)]
