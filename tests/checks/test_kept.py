"""Arguments that a function should leave as they were: tensors, lists of them, and the parameters of a model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep import checks
from lockstep.checks.closer_look import Closer
from lockstep.checks.exercise import find
from lockstep.checks.observe import observe
from lockstep.checks.unchanged_arguments import changed
from lockstep.experts import functional

SGD = "all_reduce_sgd.all_reduce_sgd"


def first_finding(id: str, fn: Any) -> tuple[str, str]:
    finding = checks.check(id, fn).findings[0]
    return finding.misconception, finding.message


@pytest.mark.slow
def test_a_list_that_is_emptied_is_changed() -> None:
    """Only tensors that were left were compared, and an empty list has none: full points."""

    def all_reduce_sgd(gradient: Any, w: Any, batches: Any, alpha: Any, group: Any = None) -> Any:
        t, M = 0, dist.get_world_size(group)
        while batches:
            t += 1
            G = gradient(w, *batches.pop(0))
            dist.all_reduce(G, group=group)
            w = w - alpha(t) / M * G
        return w

    misconception, message = first_finding(SGD, all_reduce_sgd)
    assert misconception == "changes-arguments"
    assert message.endswith("changes the length of batches. Work on a copy."), message  # no word on steps in place


@pytest.mark.slow
def test_the_parameters_of_a_model_are_looked_at() -> None:
    """A step of SGD inside of the function had full points."""

    def bucketed_ddp(model: Any, batch: Any, bucket_bytes: Any, group: Any = None) -> Any:
        model(batch).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        return [p.grad for p in model.parameters()]

    misconception, message = first_finding("all_reduce_sgd.bucketed_ddp", bucketed_ddp)
    assert misconception == "changes-arguments"
    assert "changes its argument model" in message


def test_who_is_not_in_the_group_is_not_told_to_take_part() -> None:
    """The group that was not passed on was named; then a rank that was never called was told to take part."""

    def all_reduce_sgd(gradient: Any, w: Any, batches: Any, alpha: Any, group: Any = None) -> Any:
        for t, (x, y) in enumerate(batches, start=1):
            G = gradient(w, x, y)
            dist.all_reduce(G)
            w = w - alpha(t) / dist.get_world_size() * G
        return w

    told = [f.misconception for f in checks.check(SGD, all_reduce_sgd).findings]
    assert told[0] == "ignores-group"
    assert "crashed:Deadlock" not in told


def test_lists_that_are_emptied_are_told() -> None:
    """Only ranks' arguments were compared: who took tokens out of the caller's list had full points."""

    def name_the_expert(tokens: Any, experts: Any, count: Any) -> Any:
        pairs = []
        while tokens:
            pairs.append((tokens.pop(), experts.pop()))
        return functional.name_the_expert([t for t, _ in pairs], [e for _, e in pairs], count)

    def step_time_of_loads(loads: Any, row_bytes: Any, alpha: Any, beta: Any, seconds: Any) -> Any:
        right = functional.step_time_of_loads(loads, row_bytes, alpha, beta, seconds)
        for row in loads:
            row.sort()
        return right

    for fn, told in ((name_the_expert, "the length of tokens"), (step_time_of_loads, "the order of loads[0]")):
        exercise = find(f"mixture_of_experts.{fn.__name__}")
        seen = observe(exercise, fn, guarded=False, cases=exercise.cases(1, 0)[-1:]).seen[0]
        fault = changed(exercise, seen)
        assert fault is not None
        assert f"changes {told}" in fault.message


@pytest.mark.slow
def test_of_a_hook_that_is_left_nothing_else_is_told() -> None:
    """Where all else was right, it was told that its buckets hold bucket_bytes numbers: so did an answer that left a
    hook, too, and was alike in that. And where the last bucket was missing, only the hook was told."""

    def bucketed_ddp(model: Any, batch: Any, bucket_bytes: Any, group: Any = None) -> Any:
        right = find("all_reduce_sgd.bucketed_ddp").reference_function()(model, batch, bucket_bytes, group)
        next(model.parameters()).register_hook(lambda gradient: None)
        return right

    exercise = find("all_reduce_sgd.bucketed_ddp")
    seen = observe(exercise, bucketed_ddp, guarded=False)
    score = checks.score_of(exercise, seen, Closer(exercise, bucketed_ddp))
    (message,) = [finding.message for finding in score.findings]
    assert message.endswith("Remove it, with the `remove()` of what registered it.")
