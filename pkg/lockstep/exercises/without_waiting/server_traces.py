"""What a parameter server receives and sends, without a run: traces that are drawn anew for each check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from lockstep.events import Event, Trace

TRAVEL, NBYTES = 0.2, 4000  # of a message: seconds, where a gradient takes about one; bytes


def traces(dice: Random, workers: Sequence[int] = (2, 3, 4), slow: float = 1.0, bound: float = math.inf) -> list[Trace]:
    """One for each number of workers. Each makes some steps; one of them takes ``slow`` times as long for each."""
    return [served(dice, [dice.randint(3, 6) for _ in range(K)], slow, bound) for K in workers]


def served(dice: Random, steps: Sequence[int], slow: float, bound: float) -> Trace:
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
