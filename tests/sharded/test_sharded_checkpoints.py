"""Checkpoints of shards: any number of ranks loads what any other number has saved, and reads no byte too many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from resuming import resume, save_training
from safetensors.torch import load_file
from torch import Tensor

from lockstep import run
from lockstep.errors import LockstepError, UsageError
from lockstep.experiments.fsdp.compared_with_dcp import dcp_table
from lockstep.models import mlp
from lockstep.sharded import sharded_checkpoints
from lockstep.sharded.flat import shard_of
from lockstep.sharded.zero import Zero

VECTORS = {
    "a": torch.arange(13.0),
    "b": torch.arange(1.0, 2.0),
    "c": torch.arange(30, dtype=torch.bfloat16),
    "d": torch.arange(8),
}
NUMEL = {name: len(vector) for name, vector in VECTORS.items()}


def save(folder: str) -> None:
    K, r = dist.get_world_size(), dist.get_rank()
    sharded_checkpoints.save(folder, {name: shard_of(v, r, K) for name, v in VECTORS.items()}, NUMEL, {"step": 7})


def load(folder: str) -> sharded_checkpoints.Loaded:
    return sharded_checkpoints.load(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "some"), [(3, (1, 2, 8)), (4, (3,))])
def test_any_number_of_ranks_loads_it(old: int, some: tuple[int, ...], tmp_path: Path) -> None:
    folder = str(tmp_path / "saved")
    run(save, folder, ranks=old, on="dgx-a100")
    for new in some:
        result = run(load, folder, ranks=new, on="dgx-a100")
        for r, (shards, extra, nbytes) in enumerate(result.values):
            assert extra == {"step": 7}
            assert list(shards) == list(VECTORS)
            for name, vector in VECTORS.items():
                assert torch.equal(shards[name], shard_of(vector, r, new)), (name, new)
                assert shards[name].dtype == vector.dtype
            needed = [len(v[r * n : (r + 1) * n]) * v.itemsize for v in VECTORS.values() for n in [-(-len(v) // new)]]
            assert nbytes == sum(needed), "no padding, and nothing of other ranks"
        assert sum(loaded.nbytes for loaded in result.values) == sum(v.nbytes for v in VECTORS.values())
        assert not result.trace.communication


@pytest.mark.slow
def test_files_are_safetensors_that_others_can_read(tmp_path: Path) -> None:
    run(save, str(tmp_path), ranks=2, on="processes")
    assert torch.equal(load_file(tmp_path / "00001.safetensors")["a"], shard_of(VECTORS["a"], 1, 2))
    assert json.loads((tmp_path / "index.json").read_text())["tensors"]["c"] == [30, "bfloat16"]


def refused(folder: str) -> None:
    """One rank, with a checkpoint of two."""
    with pytest.raises(UsageError, match="There is a checkpoint"):
        save(folder)
    with pytest.raises(UsageError, match="no shard of 13 in 1"):
        sharded_checkpoints.save(folder + "/other", {"a": torch.zeros(7)}, {"a": 13})
    last = Path(folder) / "00001.safetensors"
    last.write_bytes(last.read_bytes()[:-4])
    with pytest.raises(UsageError, match="ends before"):
        load(folder)
    (Path(folder) / "index.json").unlink()  # as a training leaves it that is stopped while it saves
    with pytest.raises(UsageError, match="no complete checkpoint"):
        load(folder)


def test_what_is_not_whole_is_refused(tmp_path: Path) -> None:
    run(save, str(tmp_path), ranks=2, on="dgx-a100")
    run(refused, str(tmp_path), ranks=1, on="dgx-a100")


# ---- a training that goes on


def batches() -> Tensor:
    return torch.randn(4, 12, 7, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def train(folder: str, stage: int, first: int, last: int) -> list[Tensor]:
    """On a rank: steps ``first`` to ``last``, after those before from the folder; saved there afterwards."""
    model = mlp([7, 5, 3], dtype=torch.float64)
    zero = Zero(model, lambda tensors: torch.optim.Adam(tensors, lr=0.01), stage, bucket_bytes=100)
    if first:
        resume(f"{folder}/{first}", zero)
    for x in batches()[first:last]:
        zero.zero_grad()
        zero(x.chunk(dist.get_world_size())[dist.get_rank()]).square().mean().backward()
        zero.step()
    save_training(f"{folder}/{last}", zero)
    return [p.detach() for p in model.parameters()]


@pytest.mark.slow
@pytest.mark.parametrize(("on", "stage"), [("dgx-a100", 1), ("processes", 2)])
def test_another_number_of_ranks_goes_on_as_if_nothing_had_happened(on: str, stage: int, tmp_path: Path) -> None:
    model = mlp([7, 5, 3], dtype=torch.float64)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for x in batches():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    folder = str(tmp_path)
    run(train, folder, stage, 0, 2, ranks=4, on=on)
    for found in run(train, folder, stage, 2, 4, ranks=3, on=on).values:
        torch.testing.assert_close(found, list(model.parameters()), rtol=0, atol=1e-14)


def test_stage_0_has_no_shards(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match="every rank has all"):
        run(train, str(tmp_path), 0, 0, 1, ranks=2, on="dgx-a100")


@pytest.mark.slow
def test_torchs_checkpoints_hold_the_same_and_are_read_in_whole_parts() -> None:
    table = dcp_table(9_000, 2, 3)
    ours, torchs = ([int(row[i].replace(",", "")) for row in table.rows] for i in (1, 2))
    assert all(row[3] == "the same" for row in table.rows)
    assert ours == [12_000] * 3
    assert torchs[0] > 18_000
    assert torchs[1] > 36_000, "rank 1 needs a part of both"
