"""What the unit trains: parts that lose nothing, gradients that are right, a clock that can be counted with."""

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.errors import UsageError
from lockstep.without_waiting.problems import (
    BATCH,
    BYTES,
    CLASSES,
    GRADIENT,
    Bowls,
    Digits,
    Recorded,
    cluster,
    one_thread,
    parts,
)


def by_autograd(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    w = w.clone().requires_grad_()
    scores = x @ w[: 64 * CLASSES].view(64, CLASSES) + w[64 * CLASSES :]
    torch.nn.functional.cross_entropy(scores, y).backward()
    assert w.grad is not None
    return w.grad


@pytest.mark.parametrize("alpha", [None, 0.1, 100.0])
def test_every_example_is_on_one_rank(alpha: float | None) -> None:
    found = torch.cat([torch.cat([x, y[:, None].double()], 1) for x, y in parts(8, alpha, seed=0)])
    (x, y), *_ = parts(1, None, seed=0)
    everything = torch.cat([x, y[:, None].double()], 1)
    assert len(found) == len(everything)
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, everything.tolist()))


def test_a_small_alpha_leaves_a_rank_few_classes() -> None:
    """The share of a rank's examples that its commonest class has, over all ranks."""
    most = {alpha: sum(int(y.bincount().max()) for _, y in parts(8, alpha, seed=0)) for alpha in (None, 100.0, 0.1)}
    share = {alpha: number / 1280 for alpha, number in most.items()}
    assert share[None] < 0.2
    assert share[100.0] < 0.25
    assert share[0.1] > 0.4


def test_the_gradient_is_autograd_s_of_the_ranks_own_minibatch_and_leaves_w_alone() -> None:
    problem, w = Digits(alpha=0.3), torch.linspace(-1, 1, 650, dtype=torch.float64)
    x, y = problem.examples(3, 8)
    for step in (0, 1, 100):
        rows = [(step * BATCH + i) % len(x) for i in range(BATCH)]
        before = w.clone()
        torch.testing.assert_close(problem.gradient(w, 3, 8, step), by_autograd(w, x[rows], y[rows]))
        assert torch.equal(w, before)


def test_an_epoch_with_few_examples_goes_round_and_a_rank_without_any_has_no_gradient() -> None:
    problem = Digits(alpha=0.01, batch=50)
    sizes = [len(problem.examples(rank, 60)[0]) for rank in range(60)]
    few, none = next(r for r, n in enumerate(sizes) if 0 < n < 50), sizes.index(0)
    x, y = problem.examples(few, 60)
    rows = [i % len(x) for i in range(50)]
    torch.testing.assert_close(
        problem.gradient(problem.start(), few, 60, 0), by_autograd(problem.start(), x[rows], y[rows])
    )
    assert not problem.gradient(problem.start(), none, 60, 0).any()


def test_the_start_knows_nothing() -> None:
    assert Digits().loss(Digits().start()) == pytest.approx(torch.tensor(10.0).log().item(), rel=1e-6)
    assert Digits().start().nbytes == BYTES


def test_no_ranks_and_no_alpha_are_refused() -> None:
    for ranks, alpha in ((0, None), (4, 0.0), (4, -1.0)):
        with pytest.raises(UsageError, match="alpha above 0"):
            parts(ranks, alpha, seed=0)


def test_the_best_of_all_bowls_is_no_mean_of_the_ranks_own() -> None:
    problem = Bowls()
    curvature, centre = problem.bowls(8)
    best = problem.best(8)
    total = sum(problem.gradient(best, rank, 8, 0) for rank in range(8))
    assert isinstance(total, Tensor)
    assert total.abs().max() < 1e-12
    assert problem.loss(best) < problem.loss(centre.mean(0)) - 1e-3
    assert 0.5 <= curvature.min() <= curvature.max() <= 1.5


def two_gradients() -> list[float]:
    problem, rank = Digits(), dist.get_rank()
    gradient = Recorded(problem.of(rank, 2))
    w = problem.start()
    for step in range(3):
        w = w - gradient(w, step)
    return [now for now, _ in gradient.seen]


def test_a_gradient_takes_its_time_and_the_straggler_s_times_as_long_and_recording_takes_none() -> None:
    usual, slow = run(two_gradients, ranks=2, on=cluster(straggler=4)).values
    assert usual == pytest.approx([0, GRADIENT, 2 * GRADIENT])
    assert slow == pytest.approx([0, 4 * GRADIENT, 8 * GRADIENT])


def test_one_thread_is_given_back() -> None:
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
