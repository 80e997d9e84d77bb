"""The learner thought: there are always more micro-batches than stages."""

MISCONCEPTION = "too-few-micro-batches"
TELL = "There may be fewer micro-batches than stages: then the warm-up is as long as there are micro-batches."


def one_f_one_b(stage, stages, micro_batches):
    warm_up = stages - stage - 1
    stream = [("F", i) for i in range(warm_up)]
    for i in range(warm_up, micro_batches):
        stream += [("F", i), ("B", i - warm_up)]
    return stream + [("B", i) for i in range(max(0, micro_batches - warm_up), micro_batches)]
