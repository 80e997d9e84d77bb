"""Our algorithms beside torch's: PostLocalSGDOptimizer, and DDP's hooks for float16 and PowerSGD, over gloo."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, post_localSGD_hook, powerSGD_hook
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.distributed.optim import PostLocalSGDOptimizer
from torch.nn.parallel import DistributedDataParallel

from lockstep.without_waiting.compression_with_error_feedback import half_precision, power_sgd
from lockstep.without_waiting.local_sgd import local_sgd, post_local_sgd
from lockstep.without_waiting.problems import Bowls
from lockstep.worlds import run

BOWLS, RATE = Bowls(size=3), 0.25
ROWS, COLUMNS, RANK, SEED = 8, 5, 2, 7
Pairs = list[tuple[Tensor, Tensor]]  # ours and torch's


class Weight(nn.Module):
    """A parameter whose gradient is what forward is given."""

    def __init__(self, start: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(start.clone())

    def forward(self, gradient: Tensor) -> Tensor:
        return (self.weight * gradient).sum()


def post_local(switch: int, period: int, steps: int) -> Tensor:
    """torch's first mean of models comes after the first local step; with ``period - 1`` more steps of warm-up it
    comes after ``period`` of them, as ours."""
    gradient = BOWLS.of(dist.get_rank(), dist.get_world_size())
    model = DistributedDataParallel(Weight(BOWLS.start() + 1))
    state = post_localSGD_hook.PostLocalSGDState(None, None, switch, post_local_gradient_allreduce=False)
    model.register_comm_hook(state, post_localSGD_hook.post_localSGD_hook)
    averager = PeriodicModelAverager(period, warmup_steps=switch + period - 1)
    optimizer = PostLocalSGDOptimizer(torch.optim.SGD(model.parameters(), lr=RATE), averager)
    for step in range(steps):
        optimizer.zero_grad()
        model(gradient(model.module.weight.detach(), step)).backward()
        optimizer.step()
    return model.module.weight.detach()


def beside_post_local() -> Pairs:
    gradient, start = BOWLS.of(dist.get_rank(), dist.get_world_size()), BOWLS.start() + 1
    return [
        (local_sgd(gradient, start, 6, RATE, 3), post_local(switch=0, period=3, steps=6)),
        (post_local_sgd(gradient, start, 8, RATE, 3, 2), post_local(switch=2, period=3, steps=8)),
    ]


def matrices() -> Tensor:
    """This rank's gradients of three steps."""
    return torch.randn(3, ROWS, COLUMNS, generator=torch.Generator().manual_seed(dist.get_rank()))


def hooked(state: Any, hook: Any, gradients: list[Tensor]) -> list[Tensor]:
    model = DistributedDataParallel(Weight(torch.zeros(ROWS, COLUMNS)), gradient_as_bucket_view=True)
    model.register_comm_hook(state, hook)
    found = []
    for gradient in gradients:
        model.zero_grad()
        model(gradient).backward()
        found.append(model.module.weight.grad.clone())
    return found


def beside_fp16() -> Pairs:
    theirs = hooked(None, default_hooks.fp16_compress_hook, list(matrices()))
    return [(half_precision(m, torch.zeros_like(m))[0], their) for m, their in zip(matrices(), theirs, strict=True)]


def beside_power_sgd() -> Pairs:
    """torch's first steps are plain all-reduces, two at least. Its Q is drawn as here, and made orthogonal."""
    state = powerSGD_hook.PowerSGDState(
        None, RANK, start_powerSGD_iter=2, min_compression_rate=0.1, random_seed=SEED, orthogonalization_epsilon=0
    )
    theirs = hooked(state, powerSGD_hook.powerSGD_hook, [*matrices()[:2], *matrices()])[2:]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(np.random.RandomState(SEED).randint(1_000_000_000))
        q = torch.randn(1, COLUMNS, RANK)[0]
    residual, pairs = torch.zeros(ROWS, COLUMNS), []
    for m, their in zip(matrices(), theirs, strict=True):
        mean, residual, q = power_sgd(m, residual, q)
        pairs.append((mean, their))
    return pairs


def all_pairs() -> dict[str, Pairs]:
    return {"post-local": beside_post_local(), "fp16": beside_fp16(), "PowerSGD": beside_power_sgd()}


def test_ours_and_torchs_give_the_same() -> None:
    """Two ranks: to divide by two before or after rounding to float16 is the same."""
    for found in run(all_pairs, ranks=2, on="processes").values:
        assert {name: len(pairs) for name, pairs in found.items()} == {"post-local": 2, "fp16": 3, "PowerSGD": 3}
        for name, pairs in found.items():
            for ours, theirs in pairs:
                assert ours.abs().max() > 0.1, name
                torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
