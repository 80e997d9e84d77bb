"""Count F and B; the difference says whose turn it is."""


def interleaved(stage, stages, micro_batches, chunks):
    p, v, total = stages, chunks, micro_batches * chunks
    warm_up = 2 * (p - stage - 1) + (v - 1) * p
    stream, f, b = [], 0, 0
    while b < total:
        ahead = f - b
        group, rest = divmod(f if f < total and ahead <= warm_up else b, p * v)
        chunk, place = divmod(rest, p)
        if f < total and ahead <= warm_up:
            stream.append(("F", group * p + place, chunk))
            f += 1
        else:
            stream.append(("B", group * p + place, v - 1 - chunk))
            b += 1
    return stream
