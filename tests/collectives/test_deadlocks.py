"""The three programs that deadlock do so, are reported with their lines, and do not once they are fixed."""

import pytest
import torch
import torch.distributed as dist
from collective_cases import RANKS, WORLDS
from torch import Tensor

from lockstep import collectives
from lockstep.errors import Deadlock
from lockstep.worlds import run

worlds = pytest.mark.parametrize("on", WORLDS.values(), ids=WORLDS.keys())


def ring(name: str, shape: tuple[int, ...] = (3,)) -> Tensor:
    return getattr(collectives, name)(torch.full(shape, float(dist.get_rank())))


def skipped(name: str, values: list[list[float]]) -> Tensor:
    return getattr(collectives, name)(torch.tensor(values[dist.get_rank()], dtype=torch.float64))


def tags(name: str) -> tuple[Tensor, Tensor]:
    r = float(dist.get_rank())
    return getattr(collectives, name)(torch.full((3,), r), torch.full((3,), r + 10))


@pytest.mark.slow
@worlds
def test_a_ring_of_sends_hangs(on: str) -> None:
    with pytest.raises(Deadlock) as failure:
        run(ring, "ring_of_sends", ranks=3, on=on)
    assert [s.operation for s in failure.value.states] == ["send(dst=1)", "send(dst=2)", "send(dst=0)"]


@pytest.mark.slow
@worlds
def test_a_skipped_collective_hangs(on: str) -> None:
    with pytest.raises(Deadlock) as failure:
        run(skipped, "skipped_collective", [[1.0], [-1.0], [2.0]], ranks=3, on=on)
    assert [s.state for s in failure.value.states] == ["waiting", "finished", "waiting"]


@pytest.mark.slow
@worlds
def test_tags_out_of_order_hang(on: str) -> None:
    with pytest.raises(Deadlock) as failure:
        run(tags, "out_of_order_tags", ranks=2, on=on)
    assert [s.operation for s in failure.value.states] == ["send(dst=1, tag=1)", "recv(src=0, tag=2)"]


def test_eager_sends_hide_two_of_the_three() -> None:
    run(ring, "ring_of_sends", ranks=3, on="laptop", rules="mpi")
    run(tags, "out_of_order_tags", ranks=2, on="laptop", rules="mpi")
    with pytest.raises(Deadlock):
        run(skipped, "skipped_collective", [[1.0], [-1.0]], ranks=2, on="laptop", rules="mpi")


@pytest.mark.sampled(12)
@worlds
@pytest.mark.parametrize("K", RANKS)
def test_the_mended_ring(K: int, on: str) -> None:
    result = run(ring, "mend_ring_of_sends", ranks=K, on=on)
    assert [t.tolist() for t in result.values] == [[float((r - 1) % K)] * 3 for r in range(K)]
    assert [result.trace.sent(r) for r in range(K)] == [(int(K > 1), 12 * (K > 1))] * K


@pytest.mark.sampled(6)
@worlds
@pytest.mark.parametrize(
    "values", [[[-2.0, 1.0]], [[1, -0.5], [2, -2], [-3, 1], [4, 4]], [[-1, 0], [0, 0]], [[3, 1]] * 5]
)
def test_the_mended_collective(values: list[list[float]], on: str) -> None:
    result = run(skipped, "mend_skipped_collective", values, ranks=len(values), on=on)
    positive = [v for v in values if sum(v) > 0]
    want = [sum(column) for column in zip(*positive, strict=True)] if positive else [0.0, 0.0]
    assert [t.tolist() for t in result.values] == [want] * len(values)


@pytest.mark.sampled(4)
@worlds
@pytest.mark.parametrize("K", [1, 2, 4])
def test_the_mended_tags(K: int, on: str) -> None:
    result = run(tags, "mend_out_of_order_tags", ranks=K, on=on)
    want = [0.0 if r == 1 else float(r) for r in range(K)]
    assert [(a.tolist(), b.tolist()) for a, b in result.values] == [([w] * 3, [w + 10] * 3) for w in want]
    assert [result.trace.sent(r).number for r in range(K)] == [2 * (r == 0 and K > 1) for r in range(K)]


def columns() -> tuple[Tensor, Tensor, Tensor]:
    table = torch.arange(6.0).view(2, 3).T + 100 * dist.get_rank()
    ring = collectives.mend_ring_of_sends(table[:, 0])
    first, second = collectives.mend_out_of_order_tags(table[:, 0], table[:, 1])
    return ring, first.clone(), second.clone()


def test_columns_of_a_table() -> None:
    ring, first, second = run(columns, ranks=2, on="laptop").values[1]
    assert (ring.tolist(), first.tolist(), second.tolist()) == ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [3.0, 4.0, 5.0])
