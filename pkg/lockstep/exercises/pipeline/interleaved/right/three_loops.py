"""Write both orders down with loops, then deal them out."""


def interleaved(stage, stages, micro_batches, chunks):
    forward, backward = [], []
    for first in range(0, micro_batches, stages):
        group = range(first, first + stages)
        for c in range(chunks):
            forward += [("F", i, c) for i in group]
            backward += [("B", i, chunks - 1 - c) for i in group]
    warm_up = min(2 * (stages - stage - 1) + (chunks - 1) * stages, len(forward))
    stream = forward[:warm_up]
    for f, b in zip(forward[warm_up:], backward):
        stream += [f, b]
    return stream + backward[len(forward) - warm_up :]
