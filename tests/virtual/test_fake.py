"""Runs without data: they book what runs with data book, and cost what GPT-3 costs on a laptop."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.functional import gelu

from lockstep import machines, run
from lockstep.cost.collectives import collective_time
from lockstep.errors import Deadlock, Mismatch, RankRaised, UsageError

ON = "dgx-a100"


def fake(fn, *args, ranks, **options):
    return run(fn, *args, ranks=ranks, on=ON, fake=True, **options)


def both(fn, *args, ranks=4):
    """The same run with data and without. Every event must be the same, times and floating-point operations too.
    (When Python frees a circle of objects is its own affair: the curve of memory over time may differ a little.)"""
    real, shapes = (run(fn, *args, ranks=ranks, on=ON, fake=f) for f in (False, True))
    assert shapes.trace.counts() == real.trace.counts()
    assert shapes.trace.events == real.trace.events
    assert shapes.time == real.time
    assert shapes.peak_memory == real.peak_memory
    assert [replace(m, samples=()) for m in shapes.memory] == [replace(m, samples=()) for m in real.memory]
    return real, shapes


# ---- the same program with data and without


def two_layers(*widths):
    a, b, c = widths
    return nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c))


def test_plain_collectives_and_messages():
    def fn(x):
        me, n = dist.get_rank(), dist.get_world_size()
        parts, piece = [torch.empty_like(x) for _ in range(n)], torch.empty(16, 64)
        x = torch.relu(x @ torch.randn(64, 64))
        dist.all_reduce(x)
        dist.all_gather(parts, x)
        dist.reduce_scatter(piece, list(x.chunk(n)))
        dist.broadcast(x, 1)
        dist.all_to_all_single(torch.empty_like(x), x)
        work, got = dist.isend(x, (me + 1) % n), torch.empty_like(x)
        dist.recv(got, (me - 1) % n)
        work.wait()
        dist.barrier()
        return got

    real, shapes = both(fn, torch.randn(64, 64))
    assert len(shapes.trace.communication) == 4 * 8
    assert [v.shape for v in shapes.values] == [v.shape for v in real.values]


def test_gradients_and_optimizers():
    def fn():
        model = nn.Sequential(nn.Embedding(10, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Dropout(0.1))
        tokens = torch.randint(0, 10, (4,))
        for optimizer in (torch.optim.AdamW(model.parameters()), torch.optim.SGD(model.parameters(), momentum=0.9)):
            for _ in range(2):
                nn.functional.cross_entropy(model(tokens), tokens % 8).backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()

    both(fn, ranks=1)


def test_attention():
    def fn():
        x = torch.randn(2, 4, 8, 16, requires_grad=True)
        nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()

    both(fn, ranks=1)


@pytest.mark.slow
@pytest.mark.parametrize("out", [16, 10])  # divided evenly, and not
def test_fully_shard(out):
    def fn():
        from torch.distributed.fsdp import fully_shard

        model, mesh = two_layers(64, 256, out), init_device_mesh("cpu", (4,))
        for layer in (model[0], model[2], model):
            fully_shard(layer, mesh=mesh)
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            model(torch.randn(8, 64)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    both(fn)


@pytest.mark.slow
@pytest.mark.parametrize("reshard", [True, 2])
def test_fully_shard_makes_its_own_mesh(reshard):
    """It asks for one in a module that had taken ``init_device_mesh`` before the fake run could lead it elsewhere."""

    def fn():
        from torch.distributed.fsdp import fully_shard

        model = fully_shard(two_layers(64, 256, 16), reshard_after_forward=reshard)
        model(torch.randn(8, 64)).sum().backward()

    both(fn)


def test_meshes_of_every_make():
    """A mesh is made of numbers: which rank stands where. A fake run needs them."""

    def fn():
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.tensor import init_device_mesh as from_tensor

        cube = from_tensor("cpu", (2, 2, 1), mesh_dim_names=("pipe", "data", "tensor"))
        flat = cube["data", "tensor"]._flatten("shard")
        dist.all_reduce(torch.ones(3), group=flat.get_group())
        group = DeviceMesh.from_group(dist.new_group([0, 1, 2, 3]), "cpu")
        back = from_tensor("cpu", (4,), mesh_dim_names=("all",))._unflatten(0, (2, 2), ("rows", "columns"))
        meshes = (cube, cube["pipe"], flat, group, back["rows"])
        return [(mesh.mesh.tolist(), mesh.get_coordinate(), mesh.size()) for mesh in meshes]

    real, shapes = both(fn)
    assert real.values == shapes.values


@pytest.mark.slow
def test_parallelize_module():
    def fn():
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
        model = parallelize_module(two_layers(64, 256, 16), init_device_mesh("cpu", (4,)), plan)
        model(torch.randn(8, 64)).sum().backward()

    _, shapes = both(fn)
    local = 2 * 8 * 64 * 64 * 2 + 2 * 8 * 64 * 16 * 3  # forward and weights' gradients, and the second layer's input
    assert [sum(e.flops for e in shapes.trace.of_rank(r)) for r in range(4)] == [local] * 4


@pytest.mark.slow
def test_sequence_parallel():
    def fn():
        from torch.distributed.tensor import Shard
        from torch.distributed.tensor.parallel import (
            ColwiseParallel,
            RowwiseParallel,
            SequenceParallel,
            parallelize_module,
        )

        columns, rows = ColwiseParallel(input_layouts=Shard(1)), RowwiseParallel(output_layouts=Shard(1))
        model = nn.Sequential(nn.LayerNorm(64), *two_layers(64, 256, 64))
        plan = {"0": SequenceParallel(), "1": columns, "3": rows}
        parallelize_module(model, init_device_mesh("cpu", (4,)), plan)
        model(torch.randn(2, 8, 64)).sum().backward()

    both(fn)


@pytest.mark.slow
def test_both_dimensions_of_a_mesh():
    def fn():
        from torch.distributed.fsdp import fully_shard
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        model = parallelize_module(
            two_layers(64, 256, 16), mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()}
        )
        fully_shard(model, mesh=mesh["dp"])
        model(torch.randn(8, 64)).sum().backward()

    both(fn)


@pytest.mark.slow
@pytest.mark.parametrize("init_sync", [False, True])
def test_ddp(init_sync):
    def fn():
        model = nn.parallel.DistributedDataParallel(two_layers(64, 256, 10), init_sync=init_sync)
        for _ in range(3):  # DDP rebuilds its buckets before the second
            model(torch.randn(8, 64)).sum().backward()

    both(fn)


def test_a_pipeline_of_sends_and_receives():
    def fn(micro_batches):
        me, n, stage = dist.get_rank(), dist.get_world_size(), nn.Sequential(nn.Linear(32, 32), nn.ReLU())
        done = []
        for _ in range(micro_batches):
            x = torch.randn(8, 32)
            if me > 0:
                dist.recv(x, me - 1)
            y = stage(x.requires_grad_())
            done.append((x, y))
            if me < n - 1:
                dist.send(y.detach(), me + 1)
        for x, y in done:
            gradient = torch.ones_like(y)
            if me < n - 1:
                dist.recv(gradient, me + 1)
            y.backward(gradient)
            if me > 0:
                dist.send(x.grad, me - 1)

    both(fn, 4)


def test_torchs_pipeline():
    def fn():
        from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

        me, n = dist.get_rank(), dist.get_world_size()
        stage = PipelineStage(nn.Linear(32, 32), me, n, torch.device("cpu"))
        schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=lambda y, t: ((y - t) ** 2).mean())
        x, y = torch.randn(16, 32), torch.randn(16, 32)
        schedule.step(*[x] * (me == 0), **{"target": y} if me == n - 1 else {})

    both(fn)


def test_functional_collectives_overlap_as_with_data():
    def fn():
        import torch.distributed._functional_collectives as functional

        x, group = torch.randn(8, 8), dist.group.WORLD
        parts = [
            functional.all_reduce(x, "sum", group),
            functional.all_gather_tensor(x, 0, group),
            functional.reduce_scatter_tensor(x, "avg", 0, group),
            functional.all_to_all_single(x, None, None, group),
            functional.broadcast(x, 0, group),
            *functional.all_reduce_coalesced([x, x], "sum", group),
        ]
        return sum(p.sum() for p in parts)

    both(fn)


def test_object_collectives_carry_their_objects():
    def fn():
        everyone, told = [None] * dist.get_world_size(), [{"from": 0}] * (dist.get_rank() == 0) or [None]
        dist.all_gather_object(everyone, dist.get_rank() ** 2)
        dist.broadcast_object_list(told, 0)
        return everyone, told

    _, shapes = both(fn)
    assert shapes.values == [([0, 1, 4, 9], [{"from": 0}])] * 4


# ---- size


def test_layers_as_wide_as_gpt3s_on_eight_ranks():
    """One MLP of GPT-3 (hidden 12,288) in bfloat16 over 8 ranks: weights of 12,288 x 6,144, twice a layer."""
    hidden, tokens, layers, ranks = 12_288, 2_048, 24, 8

    def fn():
        inner = 4 * hidden // dist.get_world_size()
        x = torch.empty(tokens, hidden, dtype=torch.bfloat16)
        weights = [torch.empty(2, hidden, inner, dtype=torch.bfloat16) for _ in range(layers)]
        for a, b in weights:
            x = gelu(x @ a) @ b.T
            dist.all_reduce(x)
        return x

    result = fake(fn, ranks=ranks)
    cluster = machines.find(ON)
    flops = layers * 2 * 2 * tokens * hidden * 4 * hidden // ranks
    sent = layers * collective_time("all_reduce", tokens * hidden * 2, range(ranks), cluster)
    assert [sum(e.flops for e in result.trace.of_rank(r)) for r in range(ranks)] == [flops] * ranks
    least = flops / cluster.device.peak("bfloat16") + sent
    assert least < result.time < 1.2 * least
    weights = layers * 2 * hidden * 4 * hidden // ranks * 2
    assert weights < result.peak_memory[0] < weights + 5 * tokens * hidden * 2
    assert result.values[0].shape == (tokens, hidden)
    assert result.values[0].dtype == torch.bfloat16


# ---- what goes in and what comes out


def test_arguments_and_what_a_function_closes_over_become_fake():
    closed = torch.randn(8, 8)

    def fn(model, x, same):
        return type(x).__name__, isinstance(model.weight, nn.Parameter), model(x @ closed).shape, x is same

    x = torch.randn(4, 8)
    assert fake(fn, nn.Linear(8, 2), x, x, ranks=1).values == [("FakeTensor", True, (4, 2), True)]


def test_an_argument_on_the_meta_device_may_be_as_large_as_the_device_that_is_simulated():
    """40 GB for each rank, which this machine need not have. (What exceeds the A100: test_unequal.py.)"""

    def fn(model):
        return sum(p.numel() for p in model.parameters())

    model = nn.Linear(100_000, 100_000, bias=False, device="meta")
    result = fake(fn, model, ranks=2)
    assert result.values == [100_000**2] * 2
    assert list(result.peak_memory) == [4 * 100_000**2] * 2


def test_what_a_rank_itself_makes_on_the_meta_device_is_no_memory():
    """An argument on "meta" stands for one on the device. What the function makes there is a shape, as with data."""

    def fn():
        model = nn.Linear(256, 256, bias=False, device="meta")
        model(torch.empty(8, 256, device="meta"))
        at_first = model.weight.device.type
        return at_first, model.to_empty(device="cpu").weight.device.type

    real, shapes = both(fn, ranks=1)
    assert real.values == shapes.values == [("meta", "cpu")]
    assert list(shapes.peak_memory) == [4 * 256**2]


# ---- modules that are moved


def normed():
    return nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64))


def trained(model):
    p = next(model.parameters())
    model(torch.randn(8, 64, dtype=p.dtype, device=p.device)).sum().backward()
    assert all(isinstance(p, nn.Parameter) and p.grad.dtype == p.dtype for p in model.parameters())
    return str(p.dtype)


MOVES = {
    "half": lambda model: model.half(),
    "bfloat16": lambda model: model.bfloat16(),
    "double": lambda model: model.double(),
    "to a dtype": lambda model: model.to(torch.bfloat16),
    "to_empty": lambda model: model.to_empty(device="cpu"),
    "to meta and back": lambda model: model.to("meta").to_empty(device="cpu"),
    "cpu": lambda model: model.cpu(),
}


@pytest.mark.sampled(11)
@pytest.mark.parametrize("made", ["inside", "outside"])
@pytest.mark.parametrize("move", MOVES)
def test_a_module_is_moved_as_with_data(move, made):
    """ "_apply(): Couldn't swap Linear.weight", for any of these. Parameters stay parameters, also in the book."""
    change = MOVES[move]

    def inside():
        return trained(change(normed()))

    def outside(model):
        return trained(change(model))

    real, shapes = both(inside, ranks=1) if made == "inside" else both(outside, normed(), ranks=1)
    assert shapes.values == real.values
    assert shapes.memory[0].peaks["parameters"] >= shapes.memory[0].peaks["gradients"] > 0


def test_a_module_that_is_moved_after_it_was_trained_keeps_its_gradients_and_its_optimizer():
    def fn():
        model = normed()
        optimizer = torch.optim.AdamW(model.parameters())
        trained(model)
        optimizer.step()
        model.double()
        optimizer.zero_grad()
        trained(model)
        known = {id(p) for group in optimizer.param_groups for p in group["params"]}
        return known == {id(p) for p in model.parameters()}

    real, shapes = both(fn, ranks=1)
    assert real.values == shapes.values == [True]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "move",
    [
        lambda model: model.to("cuda"),
        lambda model: model.to(torch.device("cuda", 0)),
        lambda model: model.cuda(),
        lambda model: model.to(device="cuda:1"),
        lambda model: model.to("cuda").cpu().cuda(),
    ],
)
def test_a_move_to_cuda_is_none(move):
    """The rank has one device, and all is there already. (With torch for CPUs: "not linked with support for cuda".)"""
    moved = fake(lambda model: trained(move(model)), normed(), ranks=1)
    unmoved = fake(trained, normed(), ranks=1)
    assert moved.trace.events == unmoved.trace.events
    assert [m.peaks for m in moved.memory] == [m.peaks for m in unmoved.memory]


def test_tensors_made_on_cuda_are_on_the_ranks_device():
    def fn():
        x = torch.randn(8, 64, device="cuda", requires_grad=True)
        y = torch.tensor([1.0, 2.0]).to("cuda", torch.bfloat16)
        model = nn.Linear(64, 64, device="cuda:0")
        empty = nn.Linear(64, 64, device="meta").to_empty(device="cuda")
        empty(model(x) + torch.zeros_like(x, device="cuda")).sum().backward()
        return y.dtype, {str(t.device) for t in (x, y, x.grad, model.weight, empty.weight, empty.weight.grad)}

    assert fake(fn, ranks=1).values == [(torch.bfloat16, {"cpu"})]


def test_values_come_back_as_meta_tensors():
    def fn():
        model = nn.Linear(3, 5)
        return model, {"sum": torch.ones(2, 3, dtype=torch.float64).T}, time.perf_counter() > 0

    model, tensors, waited = fake(fn, ranks=1).values[0]
    assert isinstance(model.weight, nn.Parameter)
    assert model.weight.device.type == "meta"
    assert (tensors["sum"].shape, tensors["sum"].stride(), tensors["sum"].dtype) == ((3, 2), (1, 3), torch.float64)
    assert waited


# ---- what cannot work


@pytest.mark.parametrize(
    "line",
    [
        lambda x: x.sum().item(),
        lambda x: 1 if x.sum() > 0 else 2,
        lambda x: x.tolist(),
        lambda x: float(x[0]),
        lambda x: torch.equal(x, x),
        lambda x: x.numpy(),
        lambda x: f"{x.sum():.3f}",
        lambda x: x[x > 0],
        lambda x: torch.unique(x),
    ],
)
def test_a_line_that_needs_data_is_named(line):
    with pytest.raises(RankRaised) as caught:
        fake(line, torch.ones(3), ranks=2)
    told = str(caught.value)
    assert "in a fake run tensors have shapes only" in told
    assert "test_fake.py, line" in told
    assert "without fake=True" in told


def test_a_real_mistake_is_told_as_ever():
    with pytest.raises(RankRaised, match="same reduction dim"):
        fake(lambda: torch.ones(2, 3) @ torch.ones(2, 3), ranks=1)


def test_deadlocks_and_mismatches_are_found():
    def deadlock():
        dist.recv(torch.empty(3), 1 - dist.get_rank())

    def mismatch():
        dist.all_reduce(torch.empty(3 + dist.get_rank()))

    def misfit():
        x = torch.empty(3 + dist.get_rank())
        dist.send(x, 1) if dist.get_rank() == 0 else dist.recv(x, 0)

    with pytest.raises(Deadlock):
        fake(deadlock, ranks=2)
    for fn in (mismatch, misfit):
        with pytest.raises(Mismatch):
            fake(fn, ranks=2)


@pytest.mark.parametrize("world", [None, "processes"])
def test_only_the_virtual_cluster_computes_without_data(world):
    with pytest.raises(UsageError, match=r"fake=True is for the virtual cluster"):
        run(dist.barrier, ranks=2, on=world, fake=True)
