"""Collectives for the dye, right ones and wrong ones, some that may be told how to go round."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def swap(outgoing: Tensor, to: int, incoming: Tensor, origin: int, group: Any) -> None:
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


class Ring:
    """A ring all-reduce that goes either way (``way`` is 1 or -1), begins with chunk r + ``begin``, and makes a mistake
    if told so: "forgets" the last round of the all-gather, "adds" in it, or leaves it out: "scatters"."""

    def __init__(self, way: int = 1, begin: int = 0, mistake: str = "") -> None:
        self.way, self.begin, self.mistake = way, begin, mistake

    def __call__(self, tensor: Tensor, group: Any = None) -> Tensor:
        K, rank = dist.get_world_size(group), dist.get_rank(group)
        x = tensor.clone()
        chunks = x.tensor_split(K)
        rounds = 2 * (K - 1) - {"forgets": 1, "scatters": K - 1}.get(self.mistake, 0)
        for t in range(rounds):
            seat = self.way * rank + self.begin
            target = chunks[(seat - t - 1) % K]
            incoming = torch.empty_like(target)
            swap(chunks[(seat - t) % K], (rank + self.way) % K, incoming, (rank - self.way) % K, group)
            target.copy_(incoming + target if t < K - 1 or self.mistake == "adds" else incoming)
        return x


def all_reduce(tensor: Tensor, group: Any = None) -> Tensor:
    total = tensor.clone()
    dist.all_reduce(total, group=group)
    return total


def in_float32(tensor: Tensor, group: Any = None) -> Tensor:
    return all_reduce(tensor.float(), group).to(tensor.dtype)


def ranks_times(tensor: Tensor, group: Any = None) -> Tensor:
    return all_reduce(tensor, group) * dist.get_world_size(group)


def maximum(tensor: Tensor, group: Any = None) -> Tensor:
    most = tensor.clone()
    dist.all_reduce(most, dist.ReduceOp.MAX, group=group)
    return most


def whole_numbers(tensor: Tensor, group: Any = None) -> Tensor:
    return all_reduce(tensor.long(), group).to(tensor.dtype)


def mean(tensor: Tensor, group: Any = None) -> Tensor:
    return all_reduce(tensor, group) / dist.get_world_size(group)


def mean_by_factor(tensor: Tensor, group: Any = None) -> Tensor:
    return all_reduce(tensor, group) * (1 / dist.get_world_size(group))


def plus_two_and_a_half(tensor: Tensor, group: Any = None) -> Tensor:
    return all_reduce(tensor, group) + 2.5


def waits_for_itself(tensor: Tensor, group: Any = None) -> None:
    dist.recv(tensor, src=(dist.get_rank() + 1) % dist.get_world_size())


def gives_up(tensor: Tensor, group: Any = None) -> None:
    raise ValueError("not today")


def says_words(tensor: Tensor, group: Any = None) -> str:
    return "the sum"


def sums_in_place(tensor: Tensor, group: Any = None) -> None:
    dist.all_reduce(tensor, group=group)


def returns_the_sum_and_spoils_the_tensor(tensor: Tensor, group: Any = None) -> Tensor:
    total = all_reduce(tensor, group)
    tensor.fill_(1.0)
    return total


def keeps_the_sum_from_before(tensor: Tensor, group: Any = None, memory: list[Tensor] = []) -> Tensor:  # noqa: B006
    """What it was called with last stays in it."""
    memory.append(all_reduce(tensor, group))
    return torch.stack(memory).sum(0)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> None:
    dist.broadcast(tensor, src, group=group)


def gathers(tensor: Tensor, group: Any = None) -> list[Tensor]:
    parts = [torch.empty_like(tensor) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, tensor, group=group)
    return parts


def scatters(tensor: Tensor, group: Any = None) -> Tensor:
    chunks = list(tensor.tensor_split(dist.get_world_size(group)))
    mine = torch.empty_like(chunks[dist.get_rank(group)])
    dist.reduce_scatter(mine, chunks, group=group)
    return mine


def sends_where_something_is(tensor: Tensor, group: Any = None) -> Tensor:
    """An all-reduce for once, and a message more where the sum is not zero."""
    total = all_reduce(tensor, group)
    if total.any():
        swap(total, 1 - dist.get_rank(), torch.empty_like(total), 1 - dist.get_rank(), group)
    return total


def left_over(tensor: Tensor, group: Any = None) -> Tensor:
    """The last element is left out."""
    total = all_reduce(tensor, group)
    total[-1] = tensor[-1]
    return total


class LinearMap:
    """Rank r gets ``sum of matrix[r][q] @ (rank q's tensor)``: everyone broadcasts, everyone multiplies."""

    def __init__(self, matrices: list[list[list[list[int]]]], over: int = 1, adds: int = 0) -> None:
        self.matrices, self.over, self.adds = matrices, over, adds

    def __call__(self, tensor: Tensor, group: Any = None) -> Tensor:
        mine = torch.tensor(self.matrices[dist.get_rank(group)], dtype=tensor.dtype)
        held = gathers(tensor, group)
        total = sum((m @ t for m, t in zip(mine, held, strict=True)), torch.zeros(len(mine[0]), dtype=tensor.dtype))
        return total / self.over + self.adds
