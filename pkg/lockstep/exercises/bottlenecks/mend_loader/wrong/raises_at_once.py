"""The learner thought: an error is raised as soon as it is known."""

import queue
import threading

MISCONCEPTION = "error-too-early"
TELL = "An error that is known early has to wait behind the good batches: in the same queue, or in the future of its batch."


def mend_loader(store, order, size, decode, ahead):

    ready, room, stop, failed = queue.Queue(), threading.Semaphore(ahead), threading.Event(), []

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
                ready.put(batch)
        except Exception as error:
            failed.append(error)
            ready.put(None)
        finally:
            for file in files.values():
                file.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(0, len(order), size):
            room.release()
            batch = ready.get()
            if failed:
                raise failed[0]
            yield batch
    finally:
        stop.set()
        room.release()
        thread.join()
