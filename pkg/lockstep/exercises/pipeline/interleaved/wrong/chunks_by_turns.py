"""The learner thought: chunks take turns from one F to the next."""

MISCONCEPTION = "chunks-by-turns"
TELL = "You change the chunk with each F. A group of p micro-batches goes through one chunk first, then through the next one."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k // v, k % v)

    def backward(k):
        return ("B", k // v, v - 1 - k % v)

    warm_up = 2 * (stages - stage - 1) + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
