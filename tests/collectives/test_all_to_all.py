"""All-to-all: the transpose, with parcels of any size."""

import pytest
import torch
import torch.distributed as dist
from collective_cases import RANKS, WORLDS, by_case, seconds, sent
from torch import Tensor

from lockstep import collectives
from lockstep.worlds import run

NAMES = ("pairwise_all_to_all", "one_by_one_all_to_all")


def size(sender: int, receiver: int) -> int:
    """Uneven, and sometimes nothing at all."""
    return (3 * sender + 5 * receiver) % 7


def parcel(sender: int, receiver: int, dtype: torch.dtype) -> Tensor:
    return (torch.arange(size(sender, receiver)) + 100 * sender + 10 * receiver).to(dtype)


def swap(strided: bool) -> list[list[Tensor]]:
    r, K, results = dist.get_rank(), dist.get_world_size(), []
    for name in NAMES:
        for dtype in (torch.int64, torch.float32):
            inputs = [parcel(r, s, dtype) for s in range(K)]
            outputs = [torch.zeros(size(s, r), 2, dtype=dtype)[:, 1] for s in range(K)]
            if strided:
                inputs = [torch.stack([t, -t], dim=1)[:, 0] for t in inputs]
            else:
                outputs = [t.contiguous() for t in outputs]
            returned = getattr(collectives, name)(outputs, inputs)
            dist.barrier()
            results.append([t.clone() for t in returned])
    return results


@pytest.mark.sampled(12)
@pytest.mark.parametrize("on", WORLDS.values(), ids=WORLDS.keys())
@pytest.mark.parametrize("K", RANKS)
def test_uneven_parcels_arrive(K: int, on: str) -> None:
    result = run(swap, K % 2 == 0, ranks=K, on=on)
    for r, results in enumerate(result.values):
        for i, outputs in enumerate(results):
            dtype = (torch.int64, torch.float32)[i % 2]
            assert all(torch.equal(outputs[s], parcel(s, r, dtype)) for s in range(K))
        for i, events in enumerate(by_case(result.trace.of_rank(r))):
            itemsize = (8, 4)[i % 2]
            assert sent(events) == (K - 1, itemsize * sum(size(r, s) for s in range(K) if s != r))


def even(name: str) -> None:
    K = dist.get_world_size()
    getattr(collectives, name)([torch.zeros(8)] * K, [torch.ones(8)] * K)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("K", RANKS)
def test_rounds(K: int) -> None:
    assert seconds(even, "pairwise_all_to_all", ranks=K) == pytest.approx(K - 1)
    assert 0.8 * K * (K - 1) <= seconds(even, "one_by_one_all_to_all", ranks=K) <= K * (K - 1) + 1e-9
