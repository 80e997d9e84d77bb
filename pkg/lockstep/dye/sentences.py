"""The message for a flaw, in a sentence or two. It never claims what is not certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from lockstep.dye.expected import Wanted
from lockstep.dye.flaw import Flaw, Kind, Shares, find_flaw
from lockstep.dye.provenance import Dyed

MOST = 8  # parts listed in a sentence
TIMES = {1: "", 2: " twice", 3: " three times"}


def told(dyed: Dyed, wanted: Wanted) -> str:
    """What is wrong with the result, in a sentence or two; "" if nothing is, or nothing is certain. Ranks are those of
    the group, which is stated where it matters."""
    flaw = find_flaw(dyed, wanted)
    if flaw is None:
        return ""
    said = SENTENCES[flaw.kind](flaw, dyed, wanted)
    names_ranks = flaw.kind in ("length", "cell") or wanted.root is not None or len(flaw.sizes) == 1
    if names_ranks and dyed.members != tuple(range(dyed.ranks)):
        said += f" (Ranks are counted in the group of {_ranks(dyed.members)}.)"
    return said


def _length(flaw: Flaw, dyed: Dyed, wanted: Wanted) -> str:
    return f"The result of rank {flaw.rank} has {_elements(flaw.there)}; {flaw.needed} are wanted."


def _alone(flaw: Flaw, dyed: Dyed, wanted: Wanted) -> str:
    return f"{_every(flaw)} holds {flaw.alone:g} that came from nobody: it is there when all tensors are zero, too."


def _times(flaw: Flaw, dyed: Dyed, wanted: Wanted) -> str:
    name, factor, every = _name(wanted), flaw.factor, _every(flaw)
    if wanted.name == "average" and factor == dyed.ranks:
        return f"{every} is the sum: it is not divided by {dyed.ranks}."
    if factor.numerator == 1 and factor.denominator > 1:
        is_average = wanted.name == "sum" and factor.denominator == dyed.ranks
        return f"{every} is {name} divided by {factor.denominator}{': the average' if is_average else ''}."
    return f"{every} is {_number(factor)} times {name}."


def _own(flaw: Flaw, dyed: Dyed, wanted: Wanted) -> str:
    judged = list(flaw.sizes)
    whose = "every rank" if len(judged) == dyed.ranks else _ranks(judged)
    if not any(dyed.returned):
        return f"Nothing is returned, and {whose}'s tensor is what it was."
    return f"{_begin(whose)} has its own tensor, as before, and nothing of the others."


def _cell(flaw: Flaw, dyed: Dyed, wanted: Wanted) -> str:
    return f"{_how_many(flaw)} Element {flaw.element} of rank {flaw.rank} holds {_made_of(flaw)}{_lacks(flaw)}."


SENTENCES: Mapping[Kind, Callable[[Flaw, Dyed, Wanted], str]] = {
    "length": _length, "alone": _alone, "times": _times, "own": _own, "cell": _cell,
}  # fmt: skip

# ---- parts of sentences


def _every(flaw: Flaw) -> str:
    """The elements whose values matter."""
    return "Every element" if len(flaw.sizes) > 1 else f"Every element of {_ranks(list(flaw.sizes))}"


def _name(wanted: Wanted) -> str:
    if wanted.name == "tensor":
        return f"rank {wanted.root}'s"
    return f"the {wanted.name}" if wanted.name else "what it should be"


def _how_many(flaw: Flaw) -> str:
    """How much is right: whole ranks, or elements on each rank."""
    right, sizes = flaw.right, flaw.sizes
    if len(sizes) == 1:
        ((rank, size),) = sizes.items()
        return f"{_of(right[rank], size)} of rank {rank} {_is(right[rank])} right."
    if not any(right.values()):
        return "No element is right."
    whole = [rank for rank, size in sizes.items() if right[rank] == size]
    if all(rank in whole or not number for rank, number in right.items()):
        return f"{_begin(_ranks(whole))} {_is(len(whole))} right; of the others no element is."
    if len(set(right.values())) == len(set(sizes.values())) == 1:
        (number,), (size,) = set(right.values()), set(sizes.values())
        return f"On each rank {_of(number, size)} {_is(number)} right."
    number = sum(right.values())
    return f"{_of(number, sum(sizes.values()))} {_is(number)} right."


def _of(number: int, size: int) -> str:
    return f"{number or 'None'} of {_elements(size)}"


def _is(number: int) -> str:
    return "is" if number <= 1 else "are"


def _made_of(flaw: Flaw) -> str:
    """The content of an element, as in "rank 0's and rank 1's twice, and element 3 of rank 2's"."""
    words = _parts(flaw.held, flaw)
    if flaw.alone:
        words.append(f"{flaw.alone:g} that came from nobody")
    return ", and ".join(words) if words else "nothing"


def _parts(shares: Shares, flaw: Flaw) -> list[str]:
    """The parts from elements that belong there, then those from all other elements."""
    here = {element for _, element in flaw.wanted} or {flaw.element}
    in_place = [_part(rank, share) for (rank, element), share in sorted(shares.items()) if element in here]
    words = [_listed(in_place)] if in_place else []
    for element in sorted({element for _, element in shares} - here):
        of_ranks = [_part(rank, share) for (rank, e), share in sorted(shares.items()) if e == element]
        words.append(f"element {element} of {_listed(of_ranks)}")
    return words


def _part(rank: int, share: Fraction) -> str:
    if share.denominator > 1 or share < 0:
        return (
            f"{_number(share)} of rank {rank}'s" if share.denominator > 1 else f"{_number(share)} times rank {rank}'s"
        )
    return f"rank {rank}'s{TIMES.get(int(share), f' {share} times')}"


def _lacks(flaw: Flaw) -> str:
    """What is missing or should be there, unless the content makes that clear."""
    plain = all(share == 1 for share in flaw.wanted.values())
    if not flaw.wanted:
        return "; it should hold nothing"
    owners = [{rank for rank, _ in shares} for shares in (flaw.held, flaw.wanted)]
    if not plain or (len(flaw.wanted) == 1 and flaw.held and owners[0] != owners[1]):
        return f"; it should hold {', and '.join(_parts(flaw.wanted, flaw))}"
    missing = sorted(owners[1] - owners[0])
    if not missing or not flaw.held:
        return ""
    return f"; {_ranks(missing)} {_is(len(missing))} missing"


def _begin(words: str) -> str:
    return words[:1].upper() + words[1:]


def _number(value: Fraction) -> str:
    return str(value).replace("-", "\N{MINUS SIGN}")


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {_listed([str(r) for r in ranks])}"


def _elements(number: int) -> str:
    return f"{number:,} element{'' if number == 1 else 's'}"


def _listed(words: Sequence[str]) -> str:
    """A list as in "a, b and c", shortened if it is very long."""
    if len(words) > MOST + 1:
        words = [*words[:MOST], f"{len(words) - MOST} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
