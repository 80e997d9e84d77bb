"""The learner thought: the part of the model is one number, and the stage knows which."""

MISCONCEPTION = "wrong-type"


def interleaved(stage, stages, micro_batches, chunks):
    total = micro_batches * chunks
    warm_up = min(2 * (stages - stage - 1) + (chunks - 1) * stages, total)
    stream = [("F", k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [("F", k), ("B", k - warm_up)]
    return stream + [("B", k) for k in range(total - warm_up, total)]
