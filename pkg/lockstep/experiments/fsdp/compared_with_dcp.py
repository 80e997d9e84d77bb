"""Our sharded checkpoints against torch.distributed.checkpoint (DCP): the same shards, and the bytes that ranks read.

Both save a vector from ``old`` ranks and load it on ``new``. DCP handles tensors of any dimension (DTensor); if it
needs some of a saved part, it reads the whole part, and cuts it then.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from lockstep.sharded import sharded_checkpoints
from lockstep.sharded.flat import padded, shard_of
from lockstep.tables import Table
from lockstep.worlds import run


class Counting(FileSystemReader):
    """Counts the bytes of numbers that it reads; DCP stores each part in the format of torch.save."""

    nbytes = 0

    def _slice_file(self, file: Any, sinfo: Any) -> Any:
        self.nbytes += sinfo.length
        return super()._slice_file(file, sinfo)


def vector(N: int) -> Tensor:
    return torch.arange(N, dtype=torch.float32)


def on_mesh(N: int) -> DTensor:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    return distribute_tensor(vector(N), mesh, [Shard(0)])


def saved(folder: str, N: int) -> None:
    """On a rank: save both checkpoints."""
    K, r = dist.get_world_size(), dist.get_rank()
    sharded_checkpoints.save(Path(folder) / "ours", {"w": shard_of(vector(N), r, K)}, {"w": N})
    writer = FileSystemWriter(Path(folder) / "dcp", single_file_per_rank=True)
    save({"w": on_mesh(N)}, storage_writer=writer)


def loaded(folder: str, N: int) -> tuple[bool, int, int]:
    """On a rank: whether both load correctly, and the bytes that each has read."""
    K, r = dist.get_world_size(), dist.get_rank()
    ours = sharded_checkpoints.load(Path(folder) / "ours")
    theirs, reader = on_mesh(N), Counting(Path(folder) / "dcp")
    theirs.zero_()
    load({"w": theirs}, storage_reader=reader)
    whole = padded(theirs.full_tensor(), K)
    n = len(whole) // K
    right = torch.equal(ours.shards["w"], shard_of(vector(N), r, K))
    return right and torch.equal(whole[r * n : (r + 1) * n], ours.shards["w"]), ours.nbytes, reader.nbytes


def dcp_table(N: int = 100_000, old: int = 2, new: int = 3) -> Table:
    """The bytes read by each, for checkpoints saved by ``old`` processes and loaded by ``new``."""
    with tempfile.TemporaryDirectory() as folder:
        run(saved, folder, N, ranks=old, on="processes")
        found = run(loaded, folder, N, ranks=new, on="processes").values
    rows = [
        [f"{r}", f"{ours:,}", f"{theirs:,}", "the same" if same else "others"]
        for r, (same, ours, theirs) in enumerate(found)
    ]
    head = ["rank", "bytes read", "DCP's", "numbers"]
    return Table(f"{4 * N:,} bytes, saved by {old} processes and loaded by {new}", head, rows)
