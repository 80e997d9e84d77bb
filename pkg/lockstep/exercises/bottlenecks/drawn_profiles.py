"""Profiles of training loops: the recorded ones, with other ranks, steps and clocks; and drawn ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from lockstep.bottlenecks.profiles import COMPUTING, READING
from lockstep.experiments.bottlenecks.recorded_profiles import LOOPS, Row, recorded

Profile = tuple[list[Row], float]
Numbers = Sequence[Sequence[int]]  # microseconds, of each step and rank


def varied(profile: Profile, dice: Random) -> Profile:
    """The same loop on a machine that is slower or faster: other ranks, steps from another number on, in no order."""
    spans, cost = profile
    ranks = list(range(1 + max(rank for rank, *_ in spans)))
    dice.shuffle(ranks)
    first, times = dice.randint(10, 5000), dice.randint(2, 9)
    rows = [(ranks[r], s + first, name, times * begin, times * end) for r, s, name, begin, end in spans]
    dice.shuffle(rows)
    return rows, cost * times


def of_loop(letter: str, dice: Random) -> list[Profile]:
    return [recorded(letter), varied(recorded(letter), dice)]


def drawn(
    dice: Random,
    waiting: Numbers,
    computing: Numbers,
    reading: Numbers,
    calls: int = 1,
    call: int = 700,
    cost: float = 90,
) -> Profile:
    """The profile of a loop whose ranks spend so long in each step; ``calls`` all-reduces of ``call`` microseconds.
    What takes no time has no span."""
    rows: list[Row] = []
    now = dice.randint(0, 10**6)
    for step, of_ranks in enumerate(zip(waiting, computing, reading, strict=True)):
        last = now + max(map(sum, zip(*of_ranks, strict=True)))
        for rank, (w, c, r) in enumerate(zip(*of_ranks, strict=True)):
            parts = [("optimizer.step", c // 10), *_cut(READING, r), ("next(loader)", w)]
            parts += [(COMPUTING[0], c // 3), (COMPUTING[1], c - c // 3 - c // 10)]
            at = now
            for name, took in parts:
                if took:
                    rows.append((rank, step, name, at, at + took))
                at += took
            for n in range(calls):
                end = last + (n + 1) * call
                rows.append((rank, step, "all_reduce", at, end))
                at = end
        now = last + calls * call
    return rows, cost


def _cut(names: Sequence[str], took: int) -> list[tuple[str, int]]:
    """So many microseconds in four spans, the names by turns."""
    return [(names[n % len(names)], took // 4 + (n == 0) * (took % 4)) for n in range(4)]


def some(dice: Random, steps: int, ranks: int, low: int, high: int) -> list[list[int]]:
    return [[dice.randint(low, high) for _ in range(ranks)] for _ in range(steps)]


def behind_another(dice: Random) -> list[Profile]:
    """A rank that waits for its batch while another one computes longer, or would be the slowest if the first one did
    not wait; and a rank that reads numbers then."""
    found = []
    for ranks, lost in ((2, 800), (3, 800), (3, 4500), (5, 800), (5, 4500)):
        nothing, computing = some(dice, 4, ranks, 0, 20), some(dice, 4, ranks, 3000, 3100)
        long = [[lost * (rank == 0) for rank in range(ranks)] for _ in range(4)]
        computing = [[c + 3200 * (rank == ranks - 1) for rank, c in enumerate(row)] for row in computing]
        found += [drawn(dice, long, computing, nothing), drawn(dice, nothing, computing, long)]
    return found


def by_turns(dice: Random) -> list[Profile]:
    """In each step another rank is slow, to compute or to load: over all steps they are alike."""
    found = []
    for ranks in (3, 4):
        slow = [[2500 * (rank == step % ranks) for rank in range(ranks)] for step in range(2 * ranks)]
        even, little = some(dice, 2 * ranks, ranks, 2000, 2020), some(dice, 2 * ranks, ranks, 0, 20)
        more = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(even, slow, strict=True)]
        found += [drawn(dice, little, more, little), drawn(dice, slow, even, little), drawn(dice, slow, more, little)]
    return found


def several(dice: Random) -> list[Profile]:
    """Two causes, three, and all four."""
    found = []
    for ranks, w, r, slow, calls in ((4, 2000, 2500, 0, 1), (3, 0, 3000, 3000, 20), (2, 2500, 2000, 4000, 25)):
        computing = [[c + slow * (rank == 1) for rank, c in enumerate(row)] for row in some(dice, 3, ranks, 3000, 3050)]
        waiting, reading = some(dice, 3, ranks, w, w + 40), some(dice, 3, ranks, r, r + 40)
        found.append(drawn(dice, waiting, computing, reading, calls, call=180, cost=130))
    return found


def bounds(dice: Random) -> list[Profile]:
    """Of 10 ms a step, a cause has 4 % or 6 %."""
    found = []
    for cut in (400, 600):
        for which in range(2):
            parts = [[[cut] * 3] * 3, [[20] * 3] * 3][:: 1 - 2 * which]
            found.append(drawn(dice, parts[0], [[9000 - cut - 20] * 3] * 3, parts[1], call=1000))
        found.append(
            drawn(dice, [[0] * 3] * 3, [[9000 - cut * 3 // 2, 9000, 9000 - cut * 3 // 2]] * 3, [[0] * 3] * 3, call=1000)
        )
        found.append(drawn(dice, [[0] * 3] * 3, [[9000] * 3] * 3, [[0] * 3] * 3, calls=5, call=200, cost=cut / 4))
    return found


def healthy(dice: Random) -> list[Profile]:
    """One large all-reduce that takes most of the time; and hardly any of it, on one rank."""
    little = some(dice, 3, 4, 10, 40)
    alone = some(dice, 4, 1, 4000, 6000)
    return [
        drawn(dice, little, some(dice, 3, 4, 2000, 2040), little, call=20_000),
        drawn(dice, [[15]] * 4, alone, [[15]] * 4, calls=0), drawn(dice, [[3000]] * 4, alone, [[15]] * 4, calls=0),
    ]  # fmt: skip


def idle(dice: Random) -> list[Profile]:
    """Ranks that compute nothing: in each step others, and some in none of the steps."""
    found = []
    for ranks, busy, turns in ((3, 2, True), (4, 2, True), (4, 3, False), (5, 1, True)):
        little, computing = some(dice, 2 * ranks, ranks, 0, 20), some(dice, 2 * ranks, ranks, 3000, 3040)
        for step, row in enumerate(computing):
            for rank in range(busy, ranks):
                row[(rank + step * turns) % ranks] = 0
        found.append(drawn(dice, little, computing, little))
    return found


def unlike_steps(dice: Random) -> list[Profile]:
    """Short steps and long ones: a cause that only the ones or the others have, and calls that cost each the same."""
    found, none = [], [[0] * 3] * 4
    for long in (False, True):
        took = [dice.randint(1900, 2100) * times for times in (1, 5, 1, 5)]
        dice.shuffle(took)
        lost = [t * 3 // 5 * ((t > 5000) == long) for t in took]
        all_lose, rest = [[cut] * 3 for cut in lost], [[t - cut] * 3 for t, cut in zip(took, lost, strict=True)]
        slow = [[short, t, short] for t, (short, *_) in zip(took, rest, strict=True)]
        found += [drawn(dice, *parts, call=300) for parts in ((all_lose, rest, none), (none, rest, all_lose))]
        found += [drawn(dice, none, slow, none, call=300)]
        found += [drawn(dice, none, [[t] * 3 for t in took], none, calls=5, call=80, cost=60)]
    return found


def longer_when_even(dice: Random) -> list[Profile]:
    """The rank that waits or reads long computes little, so that equal computing makes the steps longer: all of them,
    or half of them, while the others get shorter."""
    found = []
    for ranks, every in ((2, 1), (4, 1), (2, 2)):
        computing, none = some(dice, 4, ranks, 5000, 5040), [[0] * ranks] * 4
        who = dice.randrange(ranks)
        for row in computing:
            row[who] = 1000
        long = [[3000 * (rank == who and step % every == 0) for rank in range(ranks)] for step in range(4)]
        found += [drawn(dice, long, computing, none), drawn(dice, none, computing, long)]
    return found


TRIED: dict[str, Callable[[Random], list[Profile]]] = {
    **{f"loop {letter}": partial(of_loop, letter) for letter in LOOPS},
    "a rank that waits, and another one that computes longer": behind_another,
    "a slow rank, another one in each step": by_turns,
    "ranks that compute nothing in a step": idle,
    "short steps and long ones": unlike_steps,
    "steps that equal computing makes longer": longer_when_even,
    "two causes and more": several,
    "causes of 4 and of 6 %": bounds,
    "a large all-reduce, or a single rank": healthy,
}
