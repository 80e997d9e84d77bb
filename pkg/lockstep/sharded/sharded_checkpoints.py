"""Sharded checkpoints: every rank writes its own shards, and any number of ranks reads the parts that it needs.

    folder/   00000.safetensors  00001.safetensors  00002.safetensors     1. rank r writes its shards, all at once
              index.json                                                  2. rank 0, when the others are done

    a file    │ 8 bytes: h │ h bytes of JSON: where each tensor begins │ the shards' numbers, and nothing else │
                                                                           └ 3. seek, and read a part of them

The index has the number of ranks that saved, and the length N and dtype of each tensor, which the shards alone do not
give, as the last one is padded. A folder without an index is from a run that stopped while it was saving. No rank ever
holds more than its own shard, and none reads numbers that belong to another rank.

Resharding: a checkpoint of ``old`` ranks, loaded by ``new`` ranks.

    N numbers; n = ceil(N/old) in a saved shard, n' = ceil(N/new) in a loaded one. 0 is padding

    old 3   │ w0 w1 w2 │ w3 w4 w5 │ w6 0 0 │      (4) rank r of the new ones needs the numbers r·n' to (r+1)·n',
    new 4   │ w0 w1 │ w2 w3 │ w4 w5 │ w6 0 │          but none from N on
                                                  (5) of them, old rank q has q·n to (q+1)·n, counted from q·n
    rank 1 reads w2 of old rank 0                 (6) what is left is padding, and is in no file
             and w3 of old rank 1

torch.distributed.checkpoint does the same for tensors of any dimension. Source of the file format: safetensors
(github.com/huggingface/safetensors), whose own library writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.sharded.flat import shard_length

Read = Callable[[int, int, int], Tensor]  # (old rank, begin, end) -> the numbers of its shard from begin to end


# ---- resharding


def pieces(numel: int, old: int, new: int, rank: int) -> Iterator[tuple[int, int, int]]:
    """The parts that ``rank`` of ``new`` ranks needs, in order: (old rank, begin, end) within the old rank's shard."""
    n, own = shard_length(numel, old), shard_length(numel, new)
    at, last = rank * own, min((rank + 1) * own, numel)  # (4)
    while at < last:
        q = at // n
        end = min((q + 1) * n, last)
        yield q, at - q * n, end - q * n  # (5)
        at = end


def reshard(read: Read, numel: int, old: int, new: int, rank: int) -> Tensor:
    """The shard (ceil(numel/new),) of ``rank`` among ``new`` ranks, read from the shards that ``old`` ranks saved."""
    shard = torch.zeros(shard_length(numel, new))  # (6)
    at = 0
    for q, begin, end in pieces(numel, old, new, rank):
        shard[at : at + end - begin] = read(q, begin, end)
        at += end - begin
    return shard


# ---- files


class Loaded(NamedTuple):
    """``shards``: this rank's, by name; ``extra``: what rank 0 has added; ``nbytes``: bytes of numbers read."""

    shards: dict[str, Tensor]
    extra: dict[str, Any]
    nbytes: int


def save(
    folder: str | Path,
    shards: Mapping[str, Tensor],
    numel: Mapping[str, int],
    extra: Mapping[str, Any] | None = None,
    group: dist.ProcessGroup | None = None,
) -> None:
    """Save this rank's ``shards``, vectors of n = ceil(N/K) numbers with N = ``numel[name]``, in a folder that all
    ranks of ``group`` see. ``extra``: what all ranks have in common and JSON can hold, such as the step's number.

    Raises UsageError for a folder with a checkpoint, and for shards of another length."""
    folder, K, r = Path(folder), dist.get_world_size(group), dist.get_rank(group)
    for name, shard in shards.items():
        if shard.shape != (shard_length(numel[name], K),):
            raise UsageError(f"{name} is of shape {tuple(shard.shape)}, and no shard of {numel[name]} in {K}.")
    if (folder / "index.json").exists():
        raise UsageError(f"There is a checkpoint in {folder}.", "Take a folder for each step that you save.")
    dist.barrier(group)  # all have looked
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: shard.detach().cpu().clone() for name, shard in shards.items()}, file_of(folder, r))  # 1
    dist.barrier(group)
    if r == 0:
        tensors = {name: [numel[name], str(shard.dtype).removeprefix("torch.")] for name, shard in shards.items()}
        index = {"ranks": K, "tensors": tensors, "extra": dict(extra or {})}
        (folder / "index.json").write_text(json.dumps(index))  # 2
    dist.barrier(group)  # when save() returns, the checkpoint is complete


def load(folder: str | Path, group: dist.ProcessGroup | None = None) -> Loaded:
    """This rank's shards of a checkpoint saved by any number of ranks, on the CPU. No communication.

    Raises UsageError if the folder has no complete checkpoint."""
    folder, K, r = Path(folder), dist.get_world_size(group), dist.get_rank(group)
    if not (folder / "index.json").exists():
        raise UsageError(f"There is no complete checkpoint in {folder}.", "Take one that has an index.json.")
    index = json.loads((folder / "index.json").read_text())
    shards, nbytes, offsets = {}, 0, cache(header)
    for name, (N, dtype) in index["tensors"].items():
        shards[name] = torch.zeros(shard_length(N, K), dtype=getattr(torch, dtype))
        part = shards[name].view(torch.uint8)
        width, at = shards[name].itemsize, 0
        for q, begin, end in pieces(N, index["ranks"], K, r):
            file = file_of(folder, q)
            data = read(file, offsets(file)[name] + begin * width, (end - begin) * width)
            part[at : at + len(data)] = torch.frombuffer(data, dtype=torch.uint8)
            at += len(data)
        nbytes += at
    return Loaded(shards, index["extra"], nbytes)


def file_of(folder: Path, r: int) -> Path:
    return folder / f"{r:05}.safetensors"


def header(file: Path) -> dict[str, int]:
    """The offset of each tensor in the file, in bytes, by name."""
    with file.open("rb") as opened:
        h = int.from_bytes(opened.read(8), "little")
        tensors = json.loads(opened.read(h))
    return {name: 8 + h + at["data_offsets"][0] for name, at in tensors.items() if name != "__metadata__"}


def read(file: Path, begin: int, length: int) -> bytearray:
    with file.open("rb", buffering=0) as opened:
        opened.seek(begin)  # 3
        data = bytearray(length)
        if opened.readinto(data) != length:
            raise UsageError(f"{file} ends before what its index promises.", "Take a checkpoint that is whole.")
    return data
