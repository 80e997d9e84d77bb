"""The learner thought: all micro-batches go through chunk 0 first."""

MISCONCEPTION = "groups-of-m"
TELL = "All micro-batches go through chunk 0 before any goes through chunk 1. They go in groups of p."


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks

    def forward(k):
        return ("F", k % (total // v), k // (total // v))

    def backward(k):
        return ("B", k % (total // v), v - 1 - k // (total // v))

    warm_up = 2 * (stages - stage - 1) + (chunks - 1) * stages
    warm_up = min(warm_up, total)
    stream = [forward(k) for k in range(warm_up)]
    for k in range(warm_up, total):
        stream += [forward(k), backward(k - warm_up)]
    return stream + [backward(k) for k in range(total - warm_up, total)]
