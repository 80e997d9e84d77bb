"""fully_shard: training and gradients of the one-rank run, in both worlds alike.

On CPU tensors ``fully_shard`` waits for each gather and each reduce-scatter at once: no trace of it shows the overlap
with the computation that it has on GPUs, be it virtual or of processes.
"""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from both_worlds import both, gradients, quietly, same, weights
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.fsdp import CPUOffloadPolicy, FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard

MICRO = 2


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 5))  # 5: uneven


def batch():
    return torch.randn(24, 8, generator=torch.Generator().manual_seed(1))


def loss(model, x):
    return model(x).float().square().mean()


def sharded(mesh=None, model=None, **options):
    model = model or network()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def train(model, x):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    for _ in range(2):
        optimizer.zero_grad()
        for i, part in enumerate(x.chunk(MICRO)):
            if hasattr(model, "set_requires_gradient_sync"):
                model.set_requires_gradient_sync(i == MICRO - 1)
            (loss(model, part) / MICRO).backward()
        optimizer.step()
    return weights(model)


def mesh(*shape, names=None):
    return dist.init_device_mesh("cpu", shape or (dist.get_world_size(),), mesh_dim_names=names)


def mine(x):
    return x.chunk(dist.get_world_size())[dist.get_rank()]


@pytest.mark.slow
def test_training_is_that_of_one_rank():
    def use():
        return [
            train(sharded(mesh()), mine(batch())),
            train(sharded(mesh(), reshard_after_forward=False), mine(batch())),
            train(sharded(mesh(), offload_policy=CPUOffloadPolicy(pin_memory=False)), mine(batch())),
        ]

    for values in both(use, ranks=3):
        for value in values:
            same(value, train(network(), batch()), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_sharded_within_groups_and_replicated_between_them():
    def use():
        return train(sharded(mesh(2, 2, names=("replicate", "shard"))), mine(batch()))

    for value in both(use, ranks=4):
        same(value, train(network(), batch()), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_mixed_precision():
    def use():
        found = []
        for reduce in (torch.float32, None):
            policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce)
            model = sharded(mesh(), mp_policy=policy)
            loss(model, mine(batch())).backward()
            found.append(gradients(model))
        return found

    model = network()
    loss(model, batch()).backward()
    for value in both(use, ranks=2):
        for found in value:
            same(found, gradients(model), rtol=0.1, atol=0.02)


@pytest.mark.slow
def test_prefetch_a_factor_of_its_own_and_clipping():
    def use():
        model = sharded(mesh())
        model[0].set_modules_to_forward_prefetch([model[2]])
        model[4].set_modules_to_backward_prefetch([model[2]])
        model.set_gradient_divide_factor(2.0)
        loss(model, mine(batch())).backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1).full_tensor()
        return gradients(model), norm

    model = network()
    loss(model, batch()).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    for value in both(use, ranks=2):
        same(value, (gradients(model), norm))


@pytest.mark.slow
def test_whole_state_dicts_go_out_and_in():
    def use():
        whole = StateDictOptions(full_state_dict=True)
        state = get_model_state_dict(sharded(mesh()), options=whole)
        model = sharded(mesh())
        from_rank_0 = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
        set_model_state_dict(model, {k: v * 2 for k, v in state.items()}, options=from_rank_0)
        return weights(model)

    for value in both(use, ranks=2):
        same(value, [2 * w for w in weights(network())])


@pytest.mark.slow
def test_the_older_wrapper():
    def use():
        quietly()
        model = FullyShardedDataParallel(network(), device_id=torch.device("cpu"), use_orig_params=True)
        loss(model, mine(batch())).backward()
        with FullyShardedDataParallel.summon_full_params(model, with_grads=True):
            return gradients(model)

    model = network()
    loss(model, batch()).backward()
    for value in both(use, ranks=2):
        same(torch.cat([g.flatten() for g in value]), torch.cat([g.flatten() for g in gradients(model)]))
