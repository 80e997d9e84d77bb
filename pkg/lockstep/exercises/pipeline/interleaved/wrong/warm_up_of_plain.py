"""The learner thought: the warm-up is that of 1F1B."""

MISCONCEPTION = "warm-up-of-1f1b"
TELL = "Your warm-up is that of 1F1B with one chunk: p - s - 1. Here a micro-batch has to go round v times."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k):
        return ("B", k // (p * v) * p + k % p, v - 1 - k % (p * v) // p)

    warm_up = stages - stage - 1
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
