"""The learner thought: there are always enough F for the warm-up."""

MISCONCEPTION = "warm-up-without-end"
TELL = "Your warm-up may be longer than all F there are: then it is all F."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k):
        return ("B", k // (p * v) * p + k % p, v - 1 - k % (p * v) // p)

    warm_up = 2 * (p - stage - 1) + (v - 1) * p
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(max(0, total - warm_up), total)]
