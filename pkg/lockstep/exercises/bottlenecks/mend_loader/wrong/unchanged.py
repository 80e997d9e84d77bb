"""The learner thought: it gives the right batches."""

MISCONCEPTION = "opens-again"


def mend_loader(store, order, size, decode, ahead):

    for first in range(0, len(order), size):
        batch = []
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            with store.open(shard) as file:
                data = file.read()
            batch.append(decode(data[offset : offset + length]))
        yield batch
