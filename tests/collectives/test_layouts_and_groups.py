"""Tensors of any layout, groups of any members, and one clear sentence for what cannot be done."""

import pytest
import torch
import torch.distributed as dist
from collective_cases import WORLDS
from torch import Tensor

from lockstep import collectives
from lockstep.errors import RankRaised
from lockstep.worlds import run

ALL_REDUCES = [
    "ring_all_reduce", "star_all_reduce", "peers_all_reduce", "unchunked_ring_all_reduce",
    "recursive_doubling_all_reduce", "halving_doubling_all_reduce",
]  # fmt: skip
worlds = pytest.mark.parametrize("on", WORLDS.values(), ids=WORLDS.keys())


def layouts() -> dict[str, Tensor]:
    def base() -> Tensor:
        return torch.arange(24.0) + 100 * dist.get_rank()

    return {
        "transposed": base().view(4, 6).T,
        "every other": base()[::2],
        "a column": base().view(6, 4)[:, 1],
        "a scalar": base()[3],
        "three axes": base().view(2, 3, 4),
        "channels last": base().view(1, 2, 3, 4).contiguous(memory_format=torch.channels_last),
        "a leaf with gradient": base().requires_grad_(),
        "a slice of a larger tensor": base()[5:12],
    }


def all_layouts() -> dict[str, bool]:
    """Whether each all-reduce, tree and star gave the sum, in place, for each layout."""
    K, good = dist.get_world_size(), {}
    for name in [*ALL_REDUCES, "tree_reduce", "tree_broadcast", "star_reduce", "star_broadcast"]:
        for label, tensor in layouts().items():
            own = tensor.detach().clone() - 100 * dist.get_rank()
            want = own + 100 if name.endswith("broadcast") else K * own + 100 * (K * (K - 1) // 2)
            root = [] if name in ALL_REDUCES else [1]
            returned = getattr(collectives, name)(tensor, *root)
            relevant = dist.get_rank() == 1 or not name.endswith("_reduce") or not root
            good[f"{name}, {label}"] = returned is tensor and (torch.equal(tensor, want) or not relevant)
    return good


@pytest.mark.slow
@worlds
def test_any_layout(on: str) -> None:
    for values in run(all_layouts, ranks=4, on=on).values:
        assert [what for what, right in values.items() if not right] == []


def around_a_slice() -> list[float]:
    whole = torch.ones(10)
    collectives.ring_all_reduce(whole[3:6])
    return whole.tolist()


def test_neighbours_of_a_slice_are_left_alone() -> None:
    assert run(around_a_slice, ranks=3, on="laptop").values == [[1.0] * 3 + [3.0] * 3 + [1.0] * 4] * 3


def within_groups(members: list[list[int]]) -> dict[str, list[float]]:
    """All collectives at once in groups that share no rank; roots are global ranks."""
    groups = [dist.new_group(ranks) for ranks in members]
    mine = next(i for i, ranks in enumerate(members) if dist.get_rank() in ranks)
    group, root, results = groups[mine], members[mine][-1], {}
    for name in ALL_REDUCES:
        if len(members[mine]) in (1, 2, 4) or name in ALL_REDUCES[:4]:
            results[name] = getattr(collectives, name)(own(), group=group).tolist()
    for name in ("tree_broadcast", "star_broadcast", "tree_reduce", "star_reduce"):
        results[name] = getattr(collectives, name)(own(), root, group=group).tolist()
    results["mend_ring_of_sends"] = collectives.mend_ring_of_sends(own(), group=group).tolist()
    return results


def own() -> Tensor:
    return torch.tensor([10.0 ** dist.get_rank()] * 3)


@pytest.mark.sampled(6)
@worlds
@pytest.mark.parametrize("members", [[[1, 2, 4], [0, 3]], [[3, 1], [4, 0, 2, 5]], [[0], [5, 4, 3, 2, 1]]])
def test_groups_with_global_roots(on: str, members: list[list[int]]) -> None:
    values = run(within_groups, members, ranks=sum(map(len, members)), on=on).values
    for ranks in map(sorted, members):
        total, root = sum(10.0**r for r in ranks), next(m for m in members if sorted(m) == ranks)[-1]
        for seat, rank in enumerate(ranks):
            for name, result in values[rank].items():
                want = 10.0**root if name.endswith("broadcast") else total
                want = 10.0 ** ranks[seat - 1] if name == "mend_ring_of_sends" else want
                if name not in ("tree_reduce", "star_reduce") or rank == root:
                    assert result == [want] * 3, (name, ranks, rank)


def with_halving_doubling() -> None:
    collectives.halving_doubling_all_reduce(torch.ones(4))


def with_a_strange_root(root: int) -> None:
    collectives.tree_broadcast(torch.ones(4), root)


def with_too_few_parcels() -> None:
    collectives.pairwise_all_to_all([torch.ones(1)], [torch.ones(1)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fn", "args", "told"),
    [
        (with_halving_doubling, (), "must be a power of two, not 3"),
        (with_a_strange_root, (7,), "Rank 7 is not in this group, whose ranks are 0, 1, 2"),
        (with_a_strange_root, (-1,), "Rank -1 is not in this group"),
        (with_too_few_parcels, (), "An all-to-all of 3 ranks needs 3 outputs and 3 inputs, not 1 and 1"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(fn: object, args: tuple[int, ...], told: str) -> None:
    with pytest.raises(RankRaised, match=told):
        run(fn, *args, ranks=3, on="laptop")  # type: ignore[arg-type]
