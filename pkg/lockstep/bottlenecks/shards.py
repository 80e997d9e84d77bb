"""Many small files, or the same samples packed into shards: a few large files that are read from end to end.

    small files     sample-000000.bin   sample-000001.bin   …       an open, a read and a close for each sample
    shards          shard-00000.bin     shard-00000.idx.npy         an open and a read for each shard

A shard is its samples one after another; its index has their offsets, int64 (n + 1,). Megatron-LM keeps its data so
(``megatron/core/datasets/indexed_dataset.py``: .bin and .idx); WebDataset's shards are tar files, whose index is in the
file. Samples are shuffled when they are packed, so that a shard read from end to end is a random sample.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

from lockstep.bottlenecks.file_counters import read_at
from lockstep.errors import UsageError


def write_small_files(samples: Sequence[bytes], folder: str | Path) -> list[Path]:
    """A file for each sample, in ``folder``."""
    files = [Path(folder) / f"sample-{number:06}.bin" for number in range(len(samples))]
    for file, sample in zip(files, samples, strict=True):
        file.write_bytes(sample)
    return files


def pack(samples: Sequence[bytes], folder: str | Path, per_shard: int) -> list[Path]:
    """Shards of ``per_shard`` samples (the last may have fewer), each with its index beside it. Returns the shards.

    Raises UsageError if ``per_shard`` is below 1."""
    if per_shard < 1:
        raise UsageError(f"A shard of {per_shard} samples holds nothing.", "Give 1 or more.")
    files = []
    for number, begin in enumerate(range(0, len(samples), per_shard)):
        own = samples[begin : begin + per_shard]
        file = Path(folder) / f"shard-{number:05}.bin"
        file.write_bytes(b"".join(own))
        np.save(index_of(file), np.cumsum([0, *map(len, own)], dtype=np.int64))
        files.append(file)
    return files


def index_of(shard: Path) -> Path:
    return shard.with_suffix(".idx.npy")


def read_small_files(files: Sequence[Path]) -> Iterator[bytes]:
    for file in files:
        yield file.read_bytes()


def read_shards(shards: Sequence[Path]) -> Iterator[bytes]:
    """All samples in their order: one read for each shard."""
    for shard in shards:
        offsets, packed = np.load(index_of(shard)).tolist(), shard.read_bytes()
        for begin, end in pairwise(offsets):
            yield packed[begin:end]


def read_scattered(shards: Sequence[Path], order: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """The samples ``(shard, place)`` in this order, one by one: each is a read, and nearly each a seek."""
    offsets = [np.load(index_of(shard)) for shard in shards]
    opened = [os.open(shard, os.O_RDONLY) for shard in shards]
    try:
        for shard, place in order:
            begin, end = offsets[shard][place : place + 2].tolist()
            yield read_at(opened[shard], begin, end - begin)
    finally:
        for file in opened:
            os.close(file)


# ---- as a function that is returned


class Store(Protocol):
    """Small files by name, and shards by number."""

    def open(self, name: str) -> BinaryIO: ...
    def create(self) -> BinaryIO: ...
    def open_shard(self, number: int) -> BinaryIO: ...


def pack_shards(store: Store, names: Sequence[str], limit: int) -> Callable[[Iterable[str]], Iterator[bytes]]:
    """Pack small files, in this order, into shards of at most ``limit`` bytes; a larger file has one to itself,
    and what is empty fits everywhere.

    Returns ``read(some)``: the bytes of these files, in the order of ``some``. It opens a shard once."""
    index: dict[str, tuple[int, int, int]] = {}  # shard, offset, bytes
    with ExitStack() as stack:
        number, used = -1, 0
        for name in names:
            with store.open(name) as file:
                data = file.read()
            if number < 0 or (data and used and used + len(data) > limit):
                stack.close()
                shard, number, used = stack.enter_context(store.create()), number + 1, 0
            shard.write(data)
            index[name] = number, used, len(data)
            used += len(data)

    def read(some: Iterable[str]) -> Iterator[bytes]:
        opened: dict[int, BinaryIO] = {}
        with ExitStack() as stack:
            for name in some:
                number, offset, nbytes = index[name]
                if number not in opened:
                    opened[number] = stack.enter_context(store.open_shard(number))
                opened[number].seek(offset)
                yield opened[number].read(nbytes)

    return read
