"""Bytes and the experts that compute them, drawn so that names by another rule are wrong: for a check."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from lockstep.experiments.mixture_of_experts.assigned import recorded
from lockstep.experts.training import KINDS, SIGNS

Call = tuple[list[int], list[int], int]  # tokens, experts, and how many experts there are
BYTES = {**{kind: members.encode() for kind, members in KINDS.items()}, SIGNS: bytes(range(33, 48)) + bytes([95, 195])}
TOTAL = {"blanks": 250, "vowels": 600, "consonants": 900, "digits": 50, SIGNS: 200}
THREE = {"blanks": 40, "vowels": 30, "consonants": 30}


def call(dice: Random, times: dict[tuple[int, str], int], count: int) -> Call:
    """``times``: how many bytes of a kind an expert gets. In a text they come in any order."""
    pairs = [(dice.choice(BYTES[kind]), i) for (i, kind), n in times.items() for _ in range(n)]
    dice.shuffle(pairs)
    return [byte for byte, _ in pairs], [i for _, i in pairs], count


def parted(dice: Random) -> dict[tuple[int, str], int]:
    """Five experts, each with 40 % of a kind of its own and 15 % of the others: most bytes are consonants."""
    own = dice.sample(list(TOTAL), 5)
    return {(i, kind): TOTAL[kind] * (40 if own[i] == kind else 15) // 100 for i in range(5) for kind in TOTAL}


def rare(dice: Random) -> list[Call]:
    """Expert 1 gets 2 of the 3 digits, and no more than half of anything else."""
    return [
        call(dice, {(0, "vowels"): 900, (1, "vowels"): 800, (1, "digits"): 2, (0, "digits"): 1, (0, SIGNS): 297}, 2)
    ]


def missing(dice: Random) -> list[Call]:
    times = [{k: n for k, n in parted(dice).items() if k[1] != kind} for kind in dice.sample(list(TOTAL), 2)]
    return [call(dice, of_kinds, 5) for of_kinds in times]


def equal(dice: Random) -> list[Call]:
    """Half of two kinds each, and a quarter of the kind furthest up."""
    halves = {(i, kind): n for i in (0, 1) for kind, n in (("vowels", 300), ("digits", 20), (SIGNS, 90))}
    return [call(dice, {**halves, (0, "blanks"): 30, (1, "blanks"): 10, (2, "blanks"): 80}, 3)]


def bounds(dice: Random) -> list[Call]:
    """Of 5,000 tokens 4,500 and 4,499 for one expert, 49 and 50 for another: per cents with a digit don't tell. Of 150
    one is less than 1 %, and of 155 139 are less than 90 %: neither limit is a whole number."""
    few = [{(0, "vowels"): n, (1, "consonants"): 451, (2, "digits"): 5000 - 451 - n} for n in (4500, 4499)]
    few += [{(0, "vowels"): 139, (1, "consonants"): n, (2, "digits"): 1} for n in (10, 15)]
    return [call(dice, times, 3) for times in few]


def unused(dice: Random) -> list[Call]:
    return [call(dice, parted(dice), 8), call(dice, {(2, kind): n for kind, n in THREE.items()}, 4)]


def real(dice: Random) -> list[Call]:
    """Some tokens of the trainings of the lab's cell."""
    calls = []
    for counts in recorded().values():
        pairs = [(byte, i) for i, of_expert in enumerate(counts) for byte in of_expert.elements()]
        some = dice.sample(pairs, 2000)
        calls.append(([byte for byte, _ in some], [i for _, i in some], len(counts)))
    return calls


TRIED: dict[str, list[Call] | Callable[[Random], list[Call]]] = {
    "five experts and five kinds": lambda dice: [call(dice, parted(dice), 5) for _ in range(2)],
    "a kind of three bytes": rare,
    "a kind that is missing": missing,
    "two parts that are equal": equal,
    "90 % and 1 %, or just less": bounds,
    "experts that get nothing": unused,
    "a GPT's experts": real,
    "one expert": lambda dice: [call(dice, {(0, kind): n for kind, n in THREE.items()}, 1)],
}
