"""What a call does to its arguments: each kind of change is seen, once, at its place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from lockstep.checks.argument_changes import Change, Compared, comparing, recorded, state_of


def seen(do: Callable[..., Any], *given: Any) -> list[Change]:
    fn = Compared(do)
    fn(*given)
    return fn.changes


def layer() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def fitted(tree: Any) -> Any:
    return tree.fit([[0.0], [1.0]], [0, 1])


def left_graph(x: torch.Tensor) -> None:
    x.sum().backward()


CHANGES = [
    (lambda x: x.add_(1), torch.ones(2), Change(0, "", "values")),
    (lambda x: x.neg_(), torch.zeros(1), Change(0, "", "values")),
    (lambda x: x.mul_(2), torch.ones((), dtype=torch.bfloat16), Change(0, "", "values")),
    (lambda x: x[0].copy_(x[1]), torch.tensor([[1.0, float("nan")], [2, 2]]).T, Change(0, "", "values")),
    (lambda x: x.resize_(1), torch.ones(2), Change(0, "", "shape")),
    (lambda x: x.requires_grad_(), torch.ones(2), Change(0, "", "requires_grad")),
    (left_graph, torch.ones(2, requires_grad=True), Change(0, "", "gradient")),
    (lambda x: x.register_hook(print) and None, torch.ones(2, requires_grad=True), Change(0, "", "hooks")),
    (lambda m: m.register_forward_hook(print) and None, layer(), Change(0, "", "hooks")),
    (lambda m: m[0].register_full_backward_hook(print) and None, layer(), Change(0, ".0", "hooks")),
    (lambda m: m.eval() and None, nn.Dropout(), Change(0, "", "mode")),
    (lambda m: m[0].weight.data.zero_(), layer(), Change(0, ".0.weight", "values")),
    (lambda m: m(torch.ones(2, 2)), layer(), Change(0, ".1.running_mean", "values")),
    (lambda m: m.append(nn.ReLU()), layer(), Change(0, "", "length")),
    (lambda xs: xs.pop(), [1, 2], Change(0, "", "length")),
    (lambda xs: xs.sort(), [2.5, 1.5], Change(0, "", "order")),
    (lambda xs: xs.reverse(), [torch.ones(1), torch.zeros(1)], Change(0, "", "order")),
    (lambda xs: xs[1].append(0), ([], []), Change(0, "[1]", "length")),
    (lambda xs: xs.__setitem__(0, 0.0), [-0.0], Change(0, "[0]", "values")),
    (lambda d: d.pop("a"), {"a": 1}, Change(0, "", "length")),
    (lambda d: d["a"].add_(1), {"a": torch.ones(1)}, Change(0, "['a']", "values")),
    (lambda d: d.update(b=1), {"a": 1}, Change(0, "", "length")),
    (lambda d: d.update(a=d.pop("a")), {"a": 1, "b": 2}, Change(0, "", "order")),
    (lambda s: s.add(3), {1, 2}, Change(0, "", "values")),
    (lambda a: a.sort(), np.array([2, 1]), Change(0, "", "values")),
    (lambda a: a.fill(None), np.array([2, "x"], dtype=object), Change(0, "", "values")),
    (fitted, DecisionTreeClassifier(), Change(0, "", "values")),
    (lambda t: t.set_params(max_depth=1), DecisionTreeClassifier(), Change(0, "", "values")),
    (fitted, make_pipeline(DecisionTreeClassifier()), Change(0, "", "values")),
    (lambda g: fitted(g["step"][0]), {"step": [DecisionTreeClassifier()]}, Change(0, "['step'][0]", "values")),
]


@pytest.mark.parametrize(("do", "given", "change"), CHANGES, ids=range(len(CHANGES)))
def test_each_kind_of_change_is_seen_at_its_place(do: Callable[..., Any], given: Any, change: Change) -> None:
    with torch.no_grad() if change.what == "values" else torch.enable_grad():
        found = seen(lambda *own: (do(*own), None)[1], given)
    assert found[0] == change


@pytest.mark.parametrize("given", [
    torch.tensor([float("nan"), -0.0]), torch.ones(2, 3).T, torch.ones(0), [1, [float("nan")]], layer(),
    {"a": np.zeros(3)}, object(), torch.ones(2, dtype=torch.complex64).conj(), torch.ones(2, device="meta"),
])  # fmt: skip
def test_who_looks_only_changes_nothing(given: Any) -> None:
    assert seen(lambda own: repr(own) and None, given) == []


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(), make_pipeline(DecisionTreeClassifier())])
def test_a_copy_of_an_estimator_may_be_fitted_and_a_fitted_one_may_predict(estimator: Any) -> None:
    assert seen(lambda own: fitted(clone(own)) and None, estimator) == []
    assert seen(lambda own: own.predict([[0.0]]) and None, fitted(clone(estimator))) == []


def test_a_forward_and_a_backward_pass_on_ones_own_tensors_change_nothing() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        own = x.detach().clone().requires_grad_()
        (own * 2).sum().backward()
        assert own.grad is not None
        return own.grad

    assert seen(step, torch.ones(2)) == []


@pytest.mark.parametrize("result", [
    lambda x: x, lambda x: x[1:], lambda x: [x.T], lambda x: {"a": (x.view(-1),)}, lambda x: x.detach(),
    lambda x: x.numpy(),
])  # fmt: skip
def test_a_result_that_has_an_arguments_memory_is_seen(result: Callable[..., Any]) -> None:
    x = torch.ones(2, 2)
    assert seen(lambda y, own: result(own), torch.ones(2), x) == [Change(1, "", "shared")]


def test_lists_dicts_and_arrays_are_shared_too() -> None:
    for given in ([1], {"a": 1}, np.ones(3), [torch.ones(1)]):
        assert seen(lambda own: (own, 1), given) == [Change(0, "", "shared")], given
    assert seen(lambda own: own[1:], np.ones(3)) == [Change(0, "", "shared")]


@pytest.mark.parametrize("result", [lambda x: x.clone(), lambda x: x + 0, lambda x: x[0].item(), lambda x: x.tolist()])
def test_a_copy_shares_nothing(result: Callable[..., Any]) -> None:
    assert seen(result, torch.ones(2)) == []


def test_numbers_and_empty_tensors_are_nobodys_memory() -> None:
    assert seen(lambda x, n, text: (x, n, text), torch.ones(0), 7, "a") == []


def test_a_watch_that_calls_backward_itself_is_not_the_functions_doing() -> None:
    def watch(fn: Callable[..., Any], given: tuple[Any, ...]) -> float:
        loss = fn(*given)
        loss.backward()
        return float(loss.detach())

    found, changes = recorded(comparing(watch)(torch.sum, (torch.ones(2, requires_grad=True),)))
    assert (found, changes) == (2.0, ())


def test_what_is_changed_in_the_backward_pass_is_seen_too() -> None:
    class Spoils(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.x = x.detach()
            return x * 2

        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
            ctx.x.zero_()
            return 2 * dy

    def watch(fn: Callable[..., Any], given: tuple[Any, ...]) -> None:
        fn(*given).sum().backward()

    _, changes = recorded(comparing(watch)(Spoils.apply, (torch.ones(2, requires_grad=True),)))
    assert changes == (Change(0, "", "values"),)


def test_a_record_that_a_learner_has_made_up_is_no_change() -> None:
    assert recorded({"recorded": 1, "changes": [["x"], [0, "", "nonsense"]]}) == (1, ())
    assert recorded({"recorded": 1}) == ({"recorded": 1}, ())
    assert recorded(None) == (None, ())


def test_a_state_keeps_no_tensor() -> None:
    """Memory is counted while a state is kept."""
    state = state_of((torch.ones(1000), [torch.ones(10)]))
    assert not any(isinstance(fact, torch.Tensor) for part in state.parts.values() for fact in part.facts.values())


def test_a_watch_may_ask_for_the_functions_own_globals() -> None:
    """Who shuffled by hash() had all points: the watch that salts it found no globals to do it in."""
    assert Compared(state_of).__globals__ is state_of.__globals__
    assert copy.copy(Compared(state_of)).fn is state_of
