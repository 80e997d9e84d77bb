"""Both orders ascend; what is kept says whose turn it is."""


def one_f_one_b(stage, stages, micro_batches):
    stream, f, b = [], 0, 0
    while b < micro_batches:
        if f < micro_batches and f - b < stages - stage:
            stream.append(("F", f))
            f += 1
        else:
            stream.append(("B", b))
            b += 1
    return stream
