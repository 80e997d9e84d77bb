"""The learner thought: in a pair, B stands before F."""

MISCONCEPTION = "backward-before-forward"
TELL = "In the steady state your B stands before the F of its pair, so the last stage has a B before its first F."


def one_f_one_b(stage, stages, micro_batches):
    warm_up = min(stages - stage - 1, micro_batches)
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("B", i - warm_up), ("F", i)]
    return stream + [("B", i) for i in range(micro_batches - warm_up, micro_batches)]
