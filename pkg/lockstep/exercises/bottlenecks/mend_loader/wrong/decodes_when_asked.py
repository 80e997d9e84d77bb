"""The learner thought: reading is what takes long."""

from concurrent.futures import ThreadPoolExecutor
from collections import deque

MISCONCEPTION = "not-ahead"


def mend_loader(store, order, size, decode, ahead):
    files, under_way = {}, deque()

    def load(first):
        batch = []
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            if shard not in files:
                files[shard] = store.open(shard)
            files[shard].seek(offset)
            batch.append(files[shard].read(length))
        return batch

    try:
        with ThreadPoolExecutor(1) as pool:
            for first in range(0, len(order), size):
                under_way.append(pool.submit(load, first))
                if len(under_way) > ahead:
                    yield [decode(data) for data in under_way.popleft().result()]
            while under_way:
                yield [decode(data) for data in under_way.popleft().result()]
    finally:
        for file in files.values():
            file.close()
