"""Fill up to what a stage may keep, then one B and one F by turns."""


def one_f_one_b(stage, stages, micro_batches):
    full = min(micro_batches, stages - stage)
    stream = [("F", i) for i in range(full)]
    for i in range(micro_batches):
        stream.append(("B", i))
        if full + i < micro_batches:
            stream.append(("F", full + i))
    return stream
