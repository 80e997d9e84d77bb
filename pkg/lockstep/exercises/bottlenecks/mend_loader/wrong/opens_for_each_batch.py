"""The learner thought: a batch opens what it needs."""

from concurrent.futures import ThreadPoolExecutor
from collections import deque

MISCONCEPTION = "opens-again"


def mend_loader(store, order, size, decode, ahead):
    under_way = deque()

    def load(first):
        batch, files = [], {}
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            if shard not in files:
                files[shard] = store.open(shard)
            files[shard].seek(offset)
            batch.append(decode(files[shard].read(length)))
        for file in files.values():
            file.close()
        return batch

    if True:
        with ThreadPoolExecutor(1) as pool:
            for first in range(0, len(order), size):
                under_way.append(pool.submit(load, first))
                if len(under_way) > ahead:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
