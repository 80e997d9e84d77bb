"""The learner thought: as many F at the beginning as there are stages from here on."""

MISCONCEPTION = "warm-up-of-one-more"
TELL = "You begin with p - s forward passes, and then do another one before the first B. So each stage keeps one more than it needs: the F of its first pair belongs to the p - s."


def one_f_one_b(stage, stages, micro_batches):
    warm_up = min(stages - stage, micro_batches)
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("F", i), ("B", i - warm_up)]
    return stream + [("B", i) for i in range(micro_batches - warm_up, micro_batches)]
