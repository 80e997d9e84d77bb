"""The learner thought: a shard is read once, whole."""

from concurrent.futures import ThreadPoolExecutor
from collections import deque

MISCONCEPTION = "reads-too-much"


def mend_loader(store, order, size, decode, ahead):
    files, under_way = {}, deque()

    def load(first):
        batch = []
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            if shard not in files:
                with store.open(shard) as file:
                    files[shard] = file.read()
            batch.append(decode(files[shard][offset : offset + length]))
        return batch

    try:
        with ThreadPoolExecutor(1) as pool:
            for first in range(0, len(order), size):
                under_way.append(pool.submit(load, first))
                if len(under_way) > ahead:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
    finally:
        files.clear()
