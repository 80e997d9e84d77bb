"""Never more than one batch ahead, whatever is allowed."""

from concurrent.futures import ThreadPoolExecutor


def mend_loader(store, order, size, decode, ahead):

    files = {}

    def load(samples):
        batch = []
        for sample in samples:
            shard, offset, length = store.index[sample]
            if shard not in files:
                files[shard] = store.open(shard)
            files[shard].seek(offset)
            batch.append(decode(files[shard].read(length)))
        return batch

    pool = ThreadPoolExecutor(1)
    parts = [order[first : first + size] for first in range(0, len(order), size)]
    try:
        following = pool.submit(load, parts[0]) if parts else None
        for n in range(len(parts)):
            batch = following.result()
            if n + 1 < len(parts):
                following = pool.submit(load, parts[n + 1])
            yield batch
    finally:
        pool.shutdown()
        for file in files.values():
            file.close()
