"""The learner thought: p - s - 1 stages behind this one, and v - 1 rounds."""

MISCONCEPTION = "warm-up-not-twice"
TELL = "Your warm-up has p - s - 1 where the rule has twice that."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k):
        return ("B", k // (p * v) * p + k % p, v - 1 - k % (p * v) // p)

    warm_up = stages - stage - 1 + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
