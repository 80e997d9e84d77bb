"""The learner thought: B goes through the chunks as F does."""

MISCONCEPTION = "backward-chunks-ascending"
TELL = "Your B goes through chunk 0 first. The backward pass begins at the end of the model: chunk v - 1 is first."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k):
        return ("B", k // (p * v) * p + k % p, k % (p * v) // p)

    warm_up = 2 * (stages - stage - 1) + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
