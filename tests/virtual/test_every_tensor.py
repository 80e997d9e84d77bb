"""Every way to communicate × every kind of tensor: on the virtual cluster as on gloo, or refused in one sentence.

``docs/tensors.md`` is the table that this makes. Sparse tensors were not communicated at all, and nobody was told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from every_tensor import (
    KINDS,
    OBJECT_WAYS,
    OBJECTS,
    REDUCED,
    REDUCING,
    REDUCTIONS,
    WAYS,
    Case,
    cases,
    outcomes_here,
    outcomes_on_gloo,
)

from lockstep import run
from lockstep.errors import Mismatch, RankRaised

PAGE = Path(__file__).parents[2] / "docs" / "tensors.md"
SAME, REFUSED, NEITHER, ONLY_HERE = "=", "refused", "–", "here"
# What this cluster has and gloo has not, for programs that are written for NCCL.
NCCL_HAS = {"premultiplied"}
# torch refuses these on gloo, for a reason that has nothing to do with communication.
NOT_COMPARED = {Case("all_gather_single", "with a gradient")}


def verdict(here: list[Any], there: list[Any]) -> str:
    works_here, works_there = (all(told[0] == "has" for told in each) for each in (here, there))
    if works_here and works_there:
        return SAME if here == there else f"differs: {here} {there}"
    return ONLY_HERE if works_here else REFUSED if works_there else NEITHER


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, str]:
    wanted = [case for case in cases() if case not in NOT_COMPARED]
    here, there = outcomes_here(wanted), outcomes_on_gloo(wanted, tmp_path_factory.mktemp("gloo"))
    return {case: verdict(here[case], there[case]) for case in wanted}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_carried_out_here_is_what_gloo_does(compared: dict[Case, str]) -> None:
    assert {case: told for case, told in compared.items() if told.startswith("differs")} == {}
    assert {case for case, told in compared.items() if told == ONLY_HERE and case.way not in NCCL_HAS} == set()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_table_in_the_docs_is_what_was_compared(compared: dict[Case, str]) -> None:
    assert PAGE.read_text(encoding="utf-8").partition("| tensor |")[2] == tables(compared).partition("| tensor |")[2]


def tables(compared: dict[Case, str]) -> str:
    """The table of all kinds of tensors, that of the reductions, and that of the objects."""
    rows = [[kind, *(compared.get(Case(way, kind), "") for way in WAYS)] for kind in KINDS]
    ops = [(way, op) for way in REDUCING for op in REDUCTIONS]
    reduced = [[f"{way}, {op}", *(compared[Case(way, kind, op)] for kind in REDUCED)] for way, op in ops]
    objects = [[kind, *(compared[Case(way, kind)] for way in OBJECT_WAYS)] for kind in OBJECTS]
    heads = ["tensor", *WAYS], ["reduction", *REDUCED], ["object", *OBJECT_WAYS]
    return "\n\n".join(map(markdown, heads, (rows, reduced, objects))) + "\n"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def sparse_sum() -> list[float]:
    me = dist.get_rank()
    x = torch.sparse_coo_tensor(torch.tensor([[me, 3]]), torch.tensor([1.0, 1.0]), (4,))
    dist.all_reduce(x)
    return x.to_dense().tolist()


def test_sparse_tensors_are_added() -> None:
    """Each rank kept its own, and nobody was told."""
    result = run(sparse_sum, ranks=3, on="dgx-a100")
    assert result.values == [[1.0, 1.0, 1.0, 3.0]] * 3
    assert result.trace.counts()[0, "all_reduce"] == (1, 2 * (8 + 4))  # two indices, and two values


def sparse_embeddings() -> list[float]:
    torch.manual_seed(dist.get_rank())
    table = torch.nn.Embedding(5, 2, sparse=True)
    model = torch.nn.parallel.DistributedDataParallel(table)
    rows = torch.tensor([dist.get_rank(), 4])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        model(rows).square().sum().backward()
        optimizer.step()
    return table.weight.flatten().tolist()


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_replicas_with_sparse_gradients_stay_equal(on: str) -> None:
    """DistributedDataParallel adds up sparse gradients by an all-reduce: the replicas drifted apart."""
    first, *others = run(sparse_embeddings, ranks=3, on=on).values
    assert all(weights == first for weights in others)
    assert first[:2] != first[2:4]


def other_orders() -> None:
    image = torch.ones(1, 2, 3, 1)
    dist.all_reduce(image if dist.get_rank() else image.contiguous(memory_format=torch.channels_last))


def test_what_lies_otherwise_in_memory_is_told_with_both_tensors() -> None:
    """gloo adds up what does not belong together."""
    with pytest.raises(Mismatch) as caught:
        run(other_orders, ranks=2, on="dgx-a100")
    told = [state.operation for state in caught.value.states]
    assert "6 elements of float32 that lie in memory by dimensions 0, 2, 3, 1" in told[0]
    assert told[1].endswith("(SUM, 6 elements of float32)")


def lazy() -> None:
    dist.reduce((torch.ones(3) * 1j).conj(), 0)


def test_a_lazy_view_is_told() -> None:
    """gloo returns rank 0's own numbers."""
    with pytest.raises(RankRaised, match="whose memory holds other numbers"):
        run(lazy, ranks=2, on="dgx-a100")


def shapes() -> list[list[float]]:
    x = torch.arange(6.0).reshape(2, 3) if dist.get_rank() else torch.arange(6.0)
    dist.all_reduce(x)
    return [list(x.shape), x.flatten().tolist()]


def test_shapes_of_one_size_are_added_as_backends_do() -> None:
    doubled = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert run(shapes, ranks=2, on="dgx-a100").values == [[[6], doubled], [[2, 3], doubled]]
