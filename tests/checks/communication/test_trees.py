"""Reduce along a tree: only the root's result counts, in what is told as well."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import checks

REDUCE = "communication.tree_reduce"


def seat(root: int, group: Any) -> tuple[int, int, int]:
    """The root, this rank counted from it, and the number of ranks."""
    K = dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, root)
    return root, (dist.get_rank(group) - root) % K, K


def sends_its_own(tensor: Tensor, dst: int, group: Any = None) -> Tensor:
    """The nearest partner first, and the others end with other tensors than in wrong/own_tensor_only.py."""
    root, v, K = seat(dst, group)
    total, incoming = tensor.clone(), torch.empty_like(tensor)
    d = 1
    while d < K:
        if v % (2 * d) == d:
            dist.send(tensor, group=group, group_dst=(root + v - d) % K)
            return torch.zeros_like(tensor)
        if v + d < K:
            dist.recv(incoming, group=group, group_src=(root + v + d) % K)
            total += incoming
        d *= 2
    return total


def star_that_stops_early(tensor: Tensor, dst: int, group: Any = None) -> Tensor:
    """On 4 ranks the root holds three tensors, as it does where the others send their own alone."""
    root, v, K = seat(dst, group)
    total, incoming = tensor.clone(), torch.empty_like(tensor)
    if v == 0:
        for other in range(1, K - 1):
            dist.recv(incoming, group=group, group_src=(root + other) % K)
            total += incoming
    elif v < K - 1:
        dist.send(tensor, group=group, group_dst=root)
    return total


def sum_in_a_copy_at_the_root(tensor: Tensor, dst: int, group: Any = None) -> Tensor | None:
    """The root has what it had, and the others have zeros."""
    _, v, _ = seat(dst, group)
    return tensor if v == 0 else torch.zeros_like(tensor)


def first_misconception(fn: Any) -> str:
    return checks.check(REDUCE, fn).findings[0].misconception


@pytest.mark.slow
def test_a_mistake_is_known_whatever_the_other_ranks_hold() -> None:
    assert first_misconception(sends_its_own) == "drops-partial-sums"


@pytest.mark.slow
def test_few_ranks_do_not_decide_which_mistake_it_is() -> None:
    assert first_misconception(star_that_stops_early) == "wrong-values"


@pytest.mark.slow
def test_of_the_other_ranks_nothing_is_said() -> None:
    (found,) = checks.check(REDUCE, sum_in_a_copy_at_the_root).findings
    assert found.misconception == "unchanged"
    assert "Every" not in found.message
