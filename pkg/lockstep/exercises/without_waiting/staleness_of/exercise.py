"""Staleness, read off a trace: of runs of a parameter server, drawn anew."""

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from lockstep.checks.plain import plain
from lockstep.events import Event, Trace
from lockstep.exercises.arithmetic import Calls, arithmetic
from lockstep.without_waiting.staleness import staleness_of

TRAVEL, NBYTES = 0.2, 4000  # of a message: seconds, where a gradient takes about one; bytes


def traces(dice: Random, workers: Sequence[int] = (2, 3, 4), slow: float = 1.0, bound: float = math.inf) -> Calls:
    """Workers with a number of steps each; one of them takes ``slow`` times as long for each."""
    return [(recorded(dice, [dice.randint(3, 6) for _ in range(K)], slow, bound),) for K in workers]


def recorded(dice: Random, steps: list[int], slow: float, bound: float) -> Trace:
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

    while clock:
        for who in [who for who in waiting if clock[who] - bound <= min(clock.values())]:
            waiting.remove(who)
            now = moved(0, who, now, now)
            ready[who] = now + dice.uniform(0.5, 1.5) * (slow if who == who_is_slow else 1.0)
        who = min(ready, key=lambda who: ready[who])
        now = moved(who, 0, ready.pop(who), now)
        clock[who] += 1
        if clock[who] < steps[who - 1]:
            waiting.append(who)
        else:
            del clock[who]
    return Trace.of(events, len(group), "virtual")


def histogram(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """As text, in the order of its keys: what is no dict of numbers as it is."""
    found = fn(*arguments)
    try:
        return told({float(staleness): float(number) for staleness, number in found.items()})
    except (AttributeError, TypeError, ValueError):
        return plain(found)


def told(found: Mapping[int, float] | Mapping[float, float]) -> str:
    """As in "{0: 3, 2: 1}"."""
    return f"{{{', '.join(f'{staleness:g}: {number:g}' for staleness, number in sorted(found.items()) if number)}}}"


EXERCISE = arithmetic(
    {
        "workers of about one speed": traces,
        "a slow worker": lambda dice: traces(dice, slow=5.0),
        "a slow worker and bound=1": lambda dice: traces(dice, slow=5.0, bound=1),
        "workers in lockstep": lambda dice: traces(dice, bound=0),
        "one worker": lambda dice: traces(dice, workers=(1,)),
    },
    trivial=("one worker",),
    right=lambda trace: told(staleness_of(trace)),
    number=6,
    core=False,
    title="How stale?",
    points=3,
    minutes=20,
    parameters="trace",
    reference="lockstep.without_waiting.staleness:staleness_of",
    watch=histogram,
    asked="a dict {staleness: number of gradients}",
    values=1.0,
)
