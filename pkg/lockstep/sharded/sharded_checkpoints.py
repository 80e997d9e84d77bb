"""Checkpoints of shards: every rank writes its own, and any number of ranks reads what it needs of them.

    folder/   00000.safetensors  00001.safetensors  00002.safetensors     1. rank r writes its shards, all at once
              index.json                                                  2. rank 0, when the others are done

    a file    │ 8 bytes: h │ h bytes of JSON: where each tensor begins │ the shards' numbers, and nothing else │
                                                                           └ 3. seek, and read a part of them

The index says how many ranks have saved, and of each tensor its numbers N and its dtype: what the shards alone do not
tell, as the last is padded. A folder without an index is what a training left that was stopped while it saved. No rank
ever holds more than its shard, and none reads what another one needs.

Source: the format is that of safetensors (github.com/huggingface/safetensors), and its own library writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.sharded.flat import shard_length
from lockstep.sharded.resharding import pieces


class Loaded(NamedTuple):
    """``shards``: by name, for this rank; ``extra``: what rank 0 has added; ``nbytes``: of numbers read from files."""

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
    ranks of ``group`` see. ``extra``: what all ranks have in common and JSON can say, as a step's number.

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
    dist.barrier(group)  # whoever goes on may rely on it


def load(folder: str | Path, group: dist.ProcessGroup | None = None) -> Loaded:
    """This rank's shards of a checkpoint that any number of ranks has saved, on the CPU. No communication.

    Raises UsageError where no checkpoint is complete."""
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
    """By name: where a tensor begins in the file."""
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
