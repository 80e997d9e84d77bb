"""What a parameter server receives and sends, without a run: traces that are drawn anew for each check; and how stale
its gradients are, as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from lockstep.checks.plain import plain
from lockstep.events import Event, Trace

TRAVEL, NBYTES = 0.2, 4000  # of a message: seconds, where a gradient takes about one; bytes


def traces(
    dice: Random, workers: Sequence[int] = (2, 3, 4), slow: float = 1.0, bound: float = math.inf, again: float = 0.0,
    on: float = 0.0,
) -> list[Trace]:  # fmt: skip
    """One for each number of workers. Each makes some steps; one of them takes ``slow`` times as long for each. With a
    probability of ``again`` one that computes gets another w and starts anew; of ``on`` one goes on with the w that it
    has."""
    return [served(dice, [dice.randint(4, 7) for _ in range(K)], slow, bound, again, on) for K in workers]


def served(dice: Random, steps: Sequence[int], slow: float, bound: float, again: float, on: float) -> Trace:
    """The loop of the server, in a time of its own: one message after the other goes through its port."""
    events, now, ready = list[Event](), 0.0, dict[int, float]()  # when the gradients are ready that are under way
    clock, who_is_slow = dict.fromkeys(range(1, len(steps) + 1), 0), dice.randint(1, len(steps))
    waiting = dice.sample(sorted(clock), len(clock))
    group = tuple(range(len(steps) + 1))

    def moved(source: int, target: int, sent: float, asked: float) -> float:
        begin, number = max(sent, asked), len(events)
        end = begin + TRAVEL
        events.append(Event(source, "send", begin, end, NBYTES, target, group, message=number, posting=sent))
        events.append(Event(target, "recv", begin, end, NBYTES, source, group, message=number, posting=asked))
        return end

    def meanwhile() -> None:
        """What is neither a gradient nor w, on the server and elsewhere, now and then. The root of a broadcast is its
        peer."""
        if dice.random() < 0.3:
            rank, kind = (
                dice.choice([0, 0, dice.randint(1, len(steps))]),
                dice.choice(["compute", "barrier", "broadcast"]),
            )
            root = dice.randint(1, len(steps)) if kind == "broadcast" else None
            events.append(Event(rank, kind, now, now, 0, root, () if kind == "compute" else group))

    def computed(who: int) -> float:
        return now + dice.uniform(0.5, 1.5) * (slow if who == who_is_slow else 1.0)

    while clock:
        anew = [who for who in ready if dice.random() < again]
        for who in [who for who in waiting if clock[who] - bound <= min(clock.values())] + anew:
            now = moved(0, who, now, now)
            ready[who] = computed(who)
        waiting = [who for who in waiting if who not in ready]
        who = min(ready, key=lambda who: ready[who])
        meanwhile()
        now = moved(who, 0, ready.pop(who), now)
        clock[who] += 1
        if clock[who] == steps[who - 1]:
            del clock[who]
        elif dice.random() < on:
            ready[who] = computed(who)
        else:
            waiting.append(who)
    return Trace.of(events, len(group), "virtual")


def histogram(fn: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """As in "{0: 3, 2: 1}", in the order of its keys; what is no dict of numbers as it is."""
    found = fn(*call)
    try:
        if any(isinstance(value, str) for row in found.items() for value in row):
            return plain(found)
        rows = sorted((float(staleness), float(number)) for staleness, number in found.items())
        return f"{{{', '.join(f'{staleness:g}: {number:g}' for staleness, number in rows)}}}"
    except (AttributeError, TypeError, ValueError):
        return plain(found)


def first_events(trace: Trace) -> str:
    """What the server does first, with the staleness of each gradient."""
    received, sent, told = 0, dict[int | None, int](), []
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
            told.append(f"w to {event.peer}")
        elif event.kind == "recv":
            told.append(f"gradient of {event.peer} (staleness {received - sent[event.peer]})")
            received += 1
    return f"{', '.join(told[:8])} ..."
