"""An epoch of a learner's loader, and what it opens, reads and decodes, and when. Facts, no sentences."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from lockstep.checks.plain import plain

Call = tuple[int, int, int, int, int, int, int]
LINGER, ENDING = 0.2, 3.0  # seconds; a right loader takes those of LINGER only
PATIENCE = {"seconds": 3.0}  # for a thread that is alive to begin; it is short once a loader has let us wait in vain
BROKEN = "the sample cannot be decoded"
TRIED: dict[str, list[tuple[int, int, int, int, int, int]]] = {  # samples, shards, size, ahead, broken, stop after
    "several shards": [(24, 3, 4, 2, -1, 0)],
    "one batch ahead": [(20, 2, 5, 1, -1, 0)],
    "a last batch that is smaller": [(17, 4, 5, 2, -1, 0)],
    "more batches ahead than there are": [(6, 2, 4, 9, -1, 0)],
    "batches of one sample, and no sample": [(5, 5, 1, 1, -1, 0), (0, 2, 4, 2, -1, 0)],
    "a sample that cannot be decoded": [(20, 2, 4, 2, 13, 0)],
    "a consumer that stops after two batches": [(24, 3, 4, 2, -1, 2)],
}


class Shard:
    """A file that is open. What is read of it is counted."""

    def __init__(self, store: Store, content: bytes) -> None:
        self._store, self._content, self._at, self._closed = store, content, 0, False
        store.are_open += 1

    def __enter__(self) -> Shard:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def seek(self, offset: int) -> int:
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        if self._closed:
            raise ValueError("read of a shard that is closed")
        end = len(self._content) if size is None or size < 0 else self._at + size
        found = self._content[self._at : end]
        self._at += len(found)
        self._store.nbytes += len(found)
        return found

    def close(self) -> None:
        self._store.are_open -= not self._closed
        self._closed = True


class Store:
    """More samples than an epoch has, of different lengths, in shards; ``index[sample]``: (shard, offset, bytes)."""

    def __init__(self, samples: int, shards: int, dice: Random) -> None:
        self.index: dict[int, tuple[str, int, int]] = {}
        self.are_open = self.nbytes = 0
        self.opened: Counter[str] = Counter()
        contents = {f"shard-{n}": b"" for n in range(shards)}
        for sample in range(2 * samples):
            shard = f"shard-{dice.randrange(shards)}"
            data = sample.to_bytes(4, "big") + bytes(dice.randint(1, 90))
            self.index[sample] = shard, len(contents[shard]), len(data)
            contents[shard] += data
        self._contents = contents

    def open(self, shard: str) -> Shard:
        self.opened[shard] += 1
        return Shard(self, self._contents[shard])


class Epoch:
    """What is decoded, seen from the consumer, who has asked for batch number ``asked`` last."""

    def __init__(self, call: Call) -> None:
        samples, shards, self.size, self.ahead, broken, self.stop, seed = call
        dice = Random(seed)
        self.store = Store(samples, shards, dice)
        self.order = dice.sample(range(2 * samples), samples)
        self.batch_of = {sample: n // self.size for n, sample in enumerate(self.order)}
        self.batches = -(-samples // self.size)
        self.broken = self.order[broken] if broken >= 0 else -1
        self.asked, self.furthest, self.decoded = 0, 0, Counter[int]()
        self.failed_in: threading.Thread | None = None  # the thread in which decode has raised the error
        self.changed = threading.Condition()

    def decode(self, data: bytes) -> int:
        """The sample's number."""
        sample = int.from_bytes(data[:4], "big")
        with self.changed:
            self.decoded[sample] += 1
            if sample in self.batch_of and len(data) == self.store.index[sample][2]:
                self.furthest = max(self.furthest, self.batch_of[sample] - self.asked)
            self.failed_in = threading.current_thread() if sample == self.broken else self.failed_in
            self.changed.notify_all()
        if sample == self.broken:
            raise ValueError(BROKEN)
        return sample

    def begun(self, batch: int) -> bool:
        return self.decoded[self.order[batch * self.size]] > 0

    def begins(self, batch: int, others: set[threading.Thread]) -> bool:
        """Whether it is begun without being asked for. Where there is no thread besides ``others``, nobody can."""
        ends = time.monotonic() + PATIENCE["seconds"]
        while not self.waits(lambda: self.begun(batch), 0.02):
            if not set(threading.enumerate()) - others:
                return self.begun(batch)
            if time.monotonic() > ends:
                PATIENCE["seconds"] = 0.2
                return self.begun(batch)
        return True

    def lets_fail(self, batch: int) -> None:
        """Lets a loader that has been as far ahead before come to the error in this batch and know of it, while the
        consumer still has good batches to ask for."""
        due = self.furthest >= batch - self.asked
        self.waits(lambda: self.failed_in is not None, ENDING if due else LINGER)
        if self.failed_in not in (None, threading.current_thread()):
            self.failed_in.join(LINGER)  # a pool's thread does not end: it has had the time

    def waits(self, until: Callable[[], bool], seconds: float) -> bool:
        with self.changed:
            return self.changed.wait_for(until, seconds)


def right(call: Call) -> list[list[int]]:
    """The batches that a consumer gets."""
    epoch = Epoch(call)
    whole = [epoch.order[n : n + epoch.size] for n in range(0, len(epoch.order), epoch.size)]
    until = epoch.batch_of.get(epoch.broken, epoch.stop or len(whole))
    return whole[:until]


def watch(fn: Callable[..., Any], arguments: tuple[Call]) -> dict[str, Any]:
    """The "batches", the "error" that ended them, the batch that "waits" until it is asked for (-1: none does), how far
    it is ahead at most, and what is "open" and alive at the end."""
    epoch, before = Epoch(arguments[0]), set(threading.enumerate())
    order = list(epoch.order)
    found: dict[str, Any] = {"type": "", "error": "", "waits": -1}
    batches: list[Any] = []
    result = fn(epoch.store, order, epoch.size, epoch.decode, epoch.ahead)
    if not hasattr(result, "__iter__"):
        return {**found, "type": type(result).__name__}
    loader = iter(result)
    while len(batches) <= epoch.batches:
        try:
            batches.append(plain(next(loader)))
        except StopIteration:
            break
        except ValueError as error:
            if BROKEN not in str(error):
                raise
            found["error"] = "broken"
            break
        n = len(batches)
        if n == 1 and epoch.batches > 1 + epoch.ahead:
            epoch.waits(lambda: epoch.furthest > epoch.ahead, LINGER)
        if n < epoch.batches and found["waits"] < 0 and not epoch.begins(n, before):
            found["waits"] = n
        if n + 1 == epoch.batch_of.get(epoch.broken):
            epoch.lets_fail(n + 1)
        if n == epoch.stop:
            epoch.waits(lambda: False, LINGER)  # its threads come to rest: one that loads meets closed shards, and ends
            getattr(loader, "close", lambda: None)()
            break
        epoch.asked = n
    ends = time.monotonic() + ENDING
    for thread in set(threading.enumerate()) - before:
        thread.join(max(0.0, ends - time.monotonic()))
    alive = [thread for thread in threading.enumerate() if thread not in before]
    needed = sum(epoch.store.index[sample][2] for sample in epoch.order)
    twice = [sample for sample, times in epoch.decoded.items() if times > 1]
    return {
        **found, "batches": batches, "ahead": epoch.ahead, "furthest": epoch.furthest, "open": epoch.store.are_open,
        "alive": len(alive), "most": max(epoch.store.opened.values(), default=0), "nbytes": epoch.store.nbytes,
        "needed": needed, "twice": len(twice), "order": order == epoch.order, "stops": epoch.stop,
    }  # fmt: skip
