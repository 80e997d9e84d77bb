"""The learner thought: a queue for `ahead` batches holds `ahead` batches."""

import queue
import threading

MISCONCEPTION = "too-far-ahead"


def mend_loader(store, order, size, decode, ahead):

    ready = queue.Queue(maxsize=ahead)

    def work():
        files = {}
        for first in range(0, len(order), size):
            batch = []
            for sample in order[first : first + size]:
                shard, offset, length = store.index[sample]
                if shard not in files:
                    files[shard] = store.open(shard)
                files[shard].seek(offset)
                try:
                    batch.append(decode(files[shard].read(length)))
                except ValueError as error:
                    batch = error
                    break
            ready.put(batch)
            if isinstance(batch, ValueError):
                break
        for file in files.values():
            file.close()
        ready.put(None)

    threading.Thread(target=work, daemon=True).start()
    while (batch := ready.get()) is not None:
        if isinstance(batch, ValueError):
            raise batch
        yield batch
