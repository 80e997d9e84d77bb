"""One program in two worlds: on the virtual cluster, and on real processes of this machine, which talk by gloo."""

from __future__ import annotations

import warnings

import pytest
import torch

from lockstep import run

MEMORY = 0.35  # gloo's threads let go of a tensor a moment late: with models of a few kB that can be seen

FEW = 64  # bytes: what an operation without data of its own may take


def virtual(fn, *args, ranks, **options):
    return run(fn, *args, ranks=ranks, on="dgx-a100", **options)


def both(fn, *args, ranks, memory=MEMORY):
    """The values by rank. They, every rank's communication and its peak memory are the same in both worlds."""
    simulated, real = virtual(fn, *args, ranks=ranks), run(fn, *args, ranks=ranks, on="processes")
    same(list(simulated.values), list(real.values))
    for r in range(ranks):
        assert messages(simulated, r) == messages(real, r)
    assert simulated.trace.counts() == real.trace.counts()
    assert list(simulated.peak_memory) == pytest.approx(list(real.peak_memory), rel=memory, abs=FEW)
    return simulated.values


def messages(result, rank):
    """What a rank communicated, in order."""
    return [(e.kind, e.nbytes, e.peer, e.group) for e in result.trace.of_rank(rank) if e.kind != "compute"]


def same(a, b, rtol=1e-5, atol=1e-6):
    """Equal up to the order in which numbers were added."""
    if isinstance(a, torch.Tensor):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        same(list(a.values()), list(b.values()), rtol, atol)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y, rtol, atol)
    else:
        assert a == b


def gradients(module):
    """Whole gradients, of sharded parameters too."""
    return [whole(p.grad) for p in module.parameters()]


def weights(module):
    return [whole(p.detach()) for p in module.parameters()]


def whole(tensor):
    return (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).clone()


def quietly():
    """torch warns of names that it will take away one day."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", category=UserWarning)
