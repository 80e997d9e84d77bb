"""A loader that is a few batches ahead: one thread reads and decodes while the consumer works, and no shard is opened
twice.

Some batches are under way at any time, which bounds the memory. What goes wrong in the thread is raised where the
consumer asks for that batch, and when the consumer stops early the thread ends and the files are closed. PyTorch's
``DataLoader`` does the same with processes: ``prefetch_factor`` batches of each worker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol


class File(Protocol):
    """What is needed of an open shard."""

    def seek(self, offset: int) -> int: ...
    def read(self, size: int) -> bytes: ...
    def close(self) -> None: ...


class Store(Protocol):
    """Samples in shards: ``index[sample]`` is (shard, offset, bytes)."""

    @property
    def index(self) -> Mapping[int, tuple[str, int, int]]: ...
    def open(self, shard: str) -> File: ...


def mend_loader(
    store: Store, order: Sequence[int], size: int, decode: Callable[[bytes], Any], ahead: int
) -> Iterator[list[Any]]:
    """Batches of ``size`` decoded samples in this ``order``; while the consumer has one, up to ``ahead`` more are
    prepared."""
    files: dict[str, File] = {}

    def load(first: int) -> list[Any]:
        batch = []
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            if shard not in files:
                files[shard] = store.open(shard)
            files[shard].seek(offset)
            batch.append(decode(files[shard].read(length)))
        return batch

    under_way: deque[Future[list[Any]]] = deque()
    try:
        with ThreadPoolExecutor(1) as pool:
            try:
                for first in range(0, len(order), size):
                    under_way.append(pool.submit(load, first))
                    if len(under_way) > ahead:
                        yield under_way.popleft().result()
                while under_way:
                    yield under_way.popleft().result()
            finally:
                for batch in under_way:
                    batch.cancel()
    finally:
        for file in files.values():
            file.close()
