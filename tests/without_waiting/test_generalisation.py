"""The trial of post-local SGD trains replicas in one process: the same models as on ranks."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from lockstep.experiments.without_waiting import generalisation
from lockstep.experiments.without_waiting.generalisation import Way, gradients
from lockstep.models import mlp
from lockstep.without_waiting.local_sgd import local_sgd
from lockstep.worlds import run

RANKS, STEPS, PERIOD, RATE = 3, 5, 2, 0.5


def batches() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(1)
    shape = (STEPS, RANKS, 4)
    return torch.rand(*shape, 64, generator=drawn), torch.randint(10, shape, generator=drawn)


def on_a_rank() -> Tensor:
    (x, y), model, rank = batches(), mlp([64, 64, 10]), dist.get_rank()

    def gradient(w: Tensor, step: int) -> Tensor:
        vector_to_parameters(w, model.parameters())
        loss = F.cross_entropy(model(x[step, rank]), y[step, rank])
        return parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))

    return local_sgd(gradient, parameters_to_vector(model.parameters()).detach(), STEPS, RATE, PERIOD)


def test_rows_of_one_tensor_are_the_models_of_the_ranks() -> None:
    x, y = batches()
    replicas = [p.detach().expand(RANKS, *p.shape).clone() for p in mlp([64, 64, 10]).parameters()]
    for step in range(STEPS):
        for p, g in zip(replicas, gradients(replicas, x[step], y[step]), strict=True):
            p -= RATE * g
            if (step + 1) % PERIOD == 0 or step + 1 == STEPS:
                p[:] = p.mean(0)
    here = parameters_to_vector(p[0] for p in replicas)
    torch.testing.assert_close(run(on_a_rank, ranks=RANKS, on="laptop").values[0], here)


def test_when_the_models_become_their_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generalisation, "EPOCHS", 3)
    post_local = Way(16, period=4, switch=1)
    assert [t for t in range(1, 16) if post_local.meets(t)] == [1, 2, 3, 4, 5, 9, 13, 15]
    assert all(Way(16).meets(t) for t in range(1, 16))


@pytest.mark.slow
def test_the_table_says_what_came_and_how_uncertain_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """No claim is tested: whether local SGD generalises better is for the run to say."""
    monkeypatch.setattr(generalisation, "EPOCHS", 2)
    rows = generalisation.sweep(seeds=2)
    assert [row.all_reduces for row in rows] == [0, 10, 10, 1]
    assert generalisation.table(rows).rows[1][3] == f"{rows[1].test_error:.2f} % ± {rows[1].uncertain:.2f}"
    assert rows == generalisation.sweep(seeds=2)
