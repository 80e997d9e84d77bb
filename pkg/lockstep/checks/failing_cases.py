"""Which cases go wrong explains more than how they do: "only two ranks", "only sizes that the ranks divide".

A pattern holds when its cases fail and the others pass, and when a control passes: a case that fails, with its trait
taken away and all else equal. Cases differ in several ways, so that without a control a pattern may be a coincidence.
Cases with another dtype or a subgroup are kept out of the first patterns and have their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lockstep.checks.case import Case
from lockstep.checks.wording import listed

KEPT = (
    "With {case} it is right in a run of its own, and not in a run with other calls: does something stay from one call "
    "to the next, in a global, a default value, or memory that is used again?"
)

Row = tuple[Case, bool]  # a case, and whether it failed


class Pattern(NamedTuple):
    """Which cases go wrong. ``control`` takes the trait away from a case, with all else equal."""

    id: str
    told: str
    trait: Callable[[Case], bool]
    control: Callable[[Case], Case]


def explain(rows: Sequence[Row], passes: Callable[[Case], bool]) -> list[tuple[str, str]]:
    """The patterns that hold, as (id, message); usually none or one. ``passes`` tries one more case."""
    failing = [case for case, failed in rows if failed]
    held = [pattern for pattern in _holding(rows, failing) if passes(pattern.control(_plainest(pattern, failing)))]
    return [(pattern.id, _about(pattern.told, rows)) for pattern in held]


def kept(rows: Sequence[Row], passes: Callable[[Case], bool]) -> list[tuple[str, str]]:
    """What an answer shows that is right in a run of its own, where ``passes`` tries a case, and wrong among others."""
    failing = [case for case, failed in rows if failed]
    if len(rows) < 2 or not failing or all(case.size == 1 and not case.settings.get("alone") for case, _ in rows):
        return []
    first = min(failing, key=lambda case: case.trivial)
    return [("kept-between-calls", KEPT.format(case=first))] if passes(first) else []


def _holding(rows: Sequence[Row], failing: Sequence[Case]) -> list[Pattern]:
    several = any(case.size > 1 for case, _ in rows)
    if failing and several and all(c.size == 1 for c in failing):
        return [ALONE]
    plain = [(c, failed) for c, failed in rows if not special(c)]
    if any(failed for _, failed in plain):
        return [pattern for pattern in PLAIN if _exactly(plain, pattern.trait)][:1]
    return [pattern for pattern in SPECIAL if failing and all(map(pattern.trait, failing))]


def _plainest(pattern: Pattern, failing: Sequence[Case]) -> Case:
    """Of those that fail and have the trait the first that is not trivial."""
    return min((case for case in failing if pattern.trait(case)), key=lambda case: case.trivial)


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


def _with(**settings: Callable[[Case], Any]) -> Callable[[Case], Case]:
    """The case with other settings."""
    return lambda case: replace(
        case, settings={**case.settings, **{name: value(case) for name, value in settings.items()}}
    )


def _rooted(case: Case, root: Callable[[int], int]) -> Case:
    """The case with another root, if it has one."""
    roots = {name: root(value) for name, value in case.settings.items() if name in ("src", "dst")}
    return replace(case, settings={**case.settings, **roots})


def _on(ranks: int, case: Case) -> Case:
    """The case on so many ranks, all of them."""
    return replace(_rooted(case, lambda root: root % ranks), ranks=ranks, group=None)


ALONE = Pattern(
    "fails-alone",
    "It works with several ranks and fails with one: a group of one rank is a group too.",
    lambda c: c.size == 1,
    lambda c: _on(2, c),
)

PLAIN: Sequence[Pattern] = (
    Pattern(
        "only-two-ranks",
        "It is right for two ranks and for no larger number. Draw {more} ranks on paper: who needs what from whom?",
        lambda c: c.size > 2,
        lambda c: _on(2, c),
    ),
    Pattern(
        "only-powers-of-two",
        "It is right for {powers} ranks and wrong for {others}. Is there a step that needs a power of two, or that "
        "leaves somebody out?",
        lambda c: c.size & (c.size - 1) != 0,
        lambda c: _on(2 ** (c.ranks.bit_length() - 1), c),
    ),
    Pattern(
        "only-even-sizes",
        "It is right where the number of ranks divides the number of elements, and wrong elsewhere: what happens to "
        "the rest? (tensor.tensor_split(K) cuts any size into K chunks.)",
        lambda c: c.settings.get("numel", 0) % c.size != 0,
        _with(numel=lambda c: max(1, c.settings["numel"] // c.size) * c.size),
    ),
    Pattern(
        "only-root-zero",
        "It is right when the root is rank 0 and wrong for every other root. Count from the root: "
        "v = (rank - root) mod K.",
        _off_root,
        lambda c: _rooted(c, lambda root: c.members[0]),
    ),
)

SPECIAL: Sequence[Pattern] = (
    Pattern(
        "ignores-group",
        "It is right for the whole world and wrong for a group of some of its ranks. Pass group on to every call; rank "
        "and size are dist.get_rank(group) and dist.get_world_size(group); and mind that src= and dst= of send and "
        "recv, and what recv returns, are global ranks (group_src=, group_dst=, dist.get_group_rank).",
        lambda c: c.group is not None,
        lambda c: _on(c.size, _rooted(c, lambda root: c.members.index(root))),
    ),
    Pattern(
        "only-floats",
        "It is wrong for a tensor of whole numbers. Keep its dtype: make buffers with torch.empty_like, and add in no "
        "other dtype.",
        _integer,
        _with(dtype=lambda c: "float32"),
    ),
)
