"""Which cases go wrong tells more than how: "only two ranks", "only sizes that the ranks divide".

A pattern holds when its cases fail and the others pass. Cases with another dtype or a subgroup are
kept out of the first patterns and have their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.checks.case import Case
from lockstep.checks.wording import listed

Row = tuple[Case, bool]  # a case, and whether it failed


def explain(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The patterns that hold, as (id, message); usually none or one."""
    failing = [case for case, failed in rows if failed]
    several = any(case.size > 1 for case, _ in rows)
    if failing and several and all(c.size == 1 for c in failing):
        return [("fails-alone", "It works with several ranks and fails with one: a group of one rank is a group too.")]
    plain = [(c, failed) for c, failed in rows if not special(c)]
    if any(failed for _, failed in plain):
        held = [(id, _about(told, rows)) for id, told, trait in PLAIN if _exactly(plain, trait)]
        return held[:1]
    return [(id, told) for id, told, trait in SPECIAL if failing and all(trait(c) for c in failing)]


def _about(told: str, rows: Sequence[Row]) -> str:
    """The message with the sizes that were tried."""
    sizes = sorted({case.size for case, _ in rows if case.group is None and case.size > 1})
    powers, others = [k for k in sizes if k & (k - 1) == 0], [k for k in sizes if k & (k - 1)]
    return told.format(more=next((k for k in sizes if k > 2), 3), powers=listed(powers), others=listed(others))


def _exactly(rows: Sequence[Row], trait: Callable[[Case], bool]) -> bool:
    """All cases with the trait fail, all others pass, and not only the trivial ones among them."""
    with_trait = [failed for c, failed in rows if trait(c)]
    without = [(c, failed) for c, failed in rows if not trait(c)]
    passes = any(not c.trivial for c, _ in without) and not any(failed for _, failed in without)
    return passes and bool(with_trait) and all(with_trait)


def special(case: Case) -> bool:
    """Another group or dtype than the plain cases have."""
    return case.group is not None or _integer(case)


def _integer(case: Case) -> bool:
    return str(case.settings.get("dtype", "")).startswith("int")


def _off_root(case: Case) -> bool:
    root = case.settings.get("src", case.settings.get("dst", case.members[0]))
    return bool(root != case.members[0])


PLAIN: Sequence[tuple[str, str, Callable[[Case], bool]]] = (
    (
        "only-two-ranks",
        "It is right for two ranks and for no larger number. Draw {more} ranks on paper: who needs what from whom?",
        lambda c: c.size > 2,
    ),
    (
        "only-powers-of-two",
        "It is right for {powers} ranks and wrong for {others}. Is there a step that needs a power of two, or that "
        "leaves somebody out?",
        lambda c: c.size & (c.size - 1) != 0,
    ),
    (
        "only-even-sizes",
        "It is right where the number of ranks divides the number of elements, and wrong elsewhere: what happens to "
        "the rest? (tensor.tensor_split(K) cuts any size into K chunks.)",
        lambda c: c.settings.get("numel", 0) % c.size != 0,
    ),
    (
        "only-root-zero",
        "It is right when the root is rank 0 and wrong for every other root. Count from the root: "
        "v = (rank - root) mod K.",
        _off_root,
    ),
)

SPECIAL: Sequence[tuple[str, str, Callable[[Case], bool]]] = (
    (
        "ignores-group",
        "It is right for the whole world and wrong for a group of some of its ranks. Pass group on to every call; rank "
        "and size are dist.get_rank(group) and dist.get_world_size(group); and mind that src= and dst= of send and "
        "recv, and what recv returns, are global ranks (group_src=, group_dst=, dist.get_group_rank).",
        lambda c: c.group is not None,
    ),
    (
        "only-floats",
        "It is wrong for a tensor of whole numbers. Make buffers with torch.empty_like, which keeps the dtype.",
        _integer,
    ),
)
