"""A training with ZeRO that stops on K ranks and goes on with another number of them, as if nothing had happened.

Each vector that has a number for each of a bucket's parameters is saved in shards: the parameters (a float32 master if
there is one) and what the optimizer remembers of them, as momentum or Adam's two averages. What it counts, as its
steps, is the same on all ranks, and saved once. Buckets must be the same before and after: same model, same
``bucket_bytes``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.sharded.sharded_checkpoints import load, save
from lockstep.sharded.zero import Zero


def save_training(folder: str | Path, zero: Zero) -> None:
    """Save what the next step depends on, between two steps. Stages 1 and 2: in stage 0 any one rank has it all."""
    shards = dict(vectors(zero))
    numel = {name: zero.buckets[int(name.split(".")[0])].N for name in shards}
    counts = {f"{i}.{key}": float(value) for i, key, value in remembered(zero) if value.dim() == 0}
    save(folder, shards, numel, counts, zero.group)


def resume(folder: str | Path, zero: Zero) -> int:
    """Go on from there, on any number of ranks. Returns the bytes that this rank has read."""
    loaded = load(folder, zero.group)
    optimizer = check(zero)
    for i, shard in enumerate(zero.shards):
        of_this = {name.removeprefix(f"{i}."): t for name, t in loaded.shards.items() if name.startswith(f"{i}.")}
        saved = of_this.pop("parameters", shard[:0])
        if saved.shape != shard.shape:
            raise UsageError(f"Bucket {i} is another one than was saved.", "Take the same model and bucket_bytes.")
        with torch.no_grad():
            shard.copy_(saved)
        counts = {name.removeprefix(f"{i}."): x for name, x in loaded.extra.items() if name.startswith(f"{i}.")}
        state = {key: t.to(shard.device) for key, t in of_this.items()}
        optimizer.state[shard] = state | {key: torch.tensor(x) for key, x in counts.items()}
    zero.publish()
    return loaded.nbytes


def vectors(zero: Zero) -> Iterator[tuple[str, Tensor]]:
    """By the bucket's number and what it is: "0.parameters", "0.exp_avg"."""
    for i, shard in enumerate(zero.shards):
        yield f"{i}.parameters", shard
    for i, key, value in remembered(zero):
        if value.dim():
            yield f"{i}.{key}", value


def remembered(zero: Zero) -> Iterator[tuple[int, str, Tensor]]:
    """All tensors of the optimizer's state."""
    optimizer = check(zero)
    for i, shard in enumerate(zero.shards):
        for key, value in optimizer.state[shard].items():
            if isinstance(value, Tensor):
                yield i, key, value


def check(zero: Zero) -> torch.optim.Optimizer:
    """The optimizer, if it and the stage are such as can be saved here."""
    if zero.stage == 0:
        raise UsageError("In stage 0 every rank has all of it.", "Save on one rank, with torch.save.")
    if not isinstance(zero.optimizer, torch.optim.Optimizer):
        raise UsageError("Only a torch.optim.Optimizer tells its state.", "Use one of those, as torch.optim.Adam.")
    return zero.optimizer
