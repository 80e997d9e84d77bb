"""Federated averaging: what the server averages, and what drop-outs cost."""

import pytest
import torch

from lockstep.without_waiting.federated import Federation, federated_average, half_with_most
from lockstep.without_waiting.problems import one_thread

ONE = torch.tensor([1.0, 2.0])


def test_a_model_weighs_what_its_client_has() -> None:
    w = federated_average(ONE, [4 * ONE, 8 * ONE, None], [3, 1, 100])
    assert torch.equal(w, 5 * ONE)


@pytest.mark.parametrize("models", [[None, None], [], [3 * ONE]])
def test_where_nobody_has_an_example_the_server_keeps_its_model(models: list[torch.Tensor | None]) -> None:
    w = federated_average(ONE, models, [0] * len(models))
    assert torch.equal(w, ONE)
    assert w is not ONE


@pytest.mark.slow
def test_one_client_that_has_everything_is_plain_sgd() -> None:
    one = Federation(None, clients=1, asked=1, epochs=1, batch=16, rate=0.5)
    w = one.problem.start()
    for step in range(80):
        w = w - 0.5 * one.problem.gradient(w, 0, 1, step)
    assert torch.equal(one.train(1)[-1], w)


@pytest.mark.slow
def test_who_never_answers_leaves_no_trace() -> None:
    one = Federation(clients=4, asked=4, epochs=1)
    with_three = one.train(2, gone=[0])[-1]
    w = one.problem.start()
    for _ in range(2):
        models = [one.local(w, k) for k in (1, 2, 3)]
        w = federated_average(w, models, [one.examples(k) for k in (1, 2, 3)])
    torch.testing.assert_close(with_three, w)
    assert torch.equal(one.train(2, lost=1.0)[-1], one.problem.start())


def test_drop_outs_by_chance_cost_less_than_those_of_who_has_what_nobody_else_has() -> None:
    """With 50 clients that have few classes each, half of which drop out: by chance, or those with most 8s and 9s."""
    one = Federation(alpha=0.1)
    with one_thread():
        by_chance, the_same = one.accuracy(30, lost=0.5), one.accuracy(30, gone=half_with_most(one))
        everybody = one.accuracy(30)
    assert everybody > by_chance > the_same + 0.1


def test_the_half_with_most_of_a_class_has_nearly_all_of_it() -> None:
    one = Federation(alpha=0.1)
    gone = half_with_most(one, [3])
    threes = [int((one.problem.examples(k, one.clients)[1] == 3).sum()) for k in range(one.clients)]
    assert len(gone) == 25
    assert sum(threes[k] for k in gone) > 0.95 * sum(threes)
