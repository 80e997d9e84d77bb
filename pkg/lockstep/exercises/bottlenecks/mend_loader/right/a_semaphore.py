"""A thread that takes a place before it begins a batch."""

import queue
import threading


def mend_loader(store, order, size, decode, ahead):

    ready, room, stop = queue.Queue(), threading.Semaphore(ahead + 1), threading.Event()

    def work():
        files = {}
        try:
            for first in range(0, len(order), size):
                room.acquire()
                if stop.is_set():
                    return
                batch = []
                for sample in order[first : first + size]:
                    shard, offset, length = store.index[sample]
                    if shard not in files:
                        files[shard] = store.open(shard)
                    files[shard].seek(offset)
                    batch.append(decode(files[shard].read(length)))
                ready.put(("batch", batch))
            ready.put(("end", None))
        except Exception as error:
            ready.put(("error", error))
        finally:
            for file in files.values():
                file.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        while True:
            what, value = ready.get()
            if what == "end":
                return
            if what == "error":
                raise value
            yield value
            room.release()
    finally:
        stop.set()
        room.release()
        thread.join()
