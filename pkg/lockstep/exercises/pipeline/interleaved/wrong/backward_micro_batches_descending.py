"""The learner thought: the newest micro-batch goes back first."""

MISCONCEPTION = "backward-descending"
TELL = "In a group your B begin with the newest micro-batch. They go in the order of F."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k):
        return ("B", k // (p * v) * p + p - 1 - k % p, v - 1 - k % (p * v) // p)

    warm_up = 2 * (stages - stage - 1) + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
