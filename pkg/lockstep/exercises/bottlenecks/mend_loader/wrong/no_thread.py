"""The learner thought: few openings and few bytes are all that it takes."""

MISCONCEPTION = "not-ahead"


def mend_loader(store, order, size, decode, ahead):

    files = {}
    try:
        for first in range(0, len(order), size):
            batch = []
            for sample in order[first : first + size]:
                shard, offset, length = store.index[sample]
                if shard not in files:
                    files[shard] = store.open(shard)
                files[shard].seek(offset)
                batch.append(decode(files[shard].read(length)))
            yield batch
    finally:
        for file in files.values():
            file.close()
