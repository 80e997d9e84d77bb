"""The learner thought: in a pair, B stands first."""

MISCONCEPTION = "backward-before-forward"
TELL = "In the steady state your B stands before F. By turns means: one F, then one B."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k):
        return ("B", k // (p * v) * p + k % p, v - 1 - k % (p * v) // p)

    warm_up = 2 * (stages - stage - 1) + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [backward(k - warm_up), forward(k)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
