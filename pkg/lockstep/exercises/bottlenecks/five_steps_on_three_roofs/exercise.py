"""Five steps under three roofs, on machines and sizes that put each now under one roof, now under another."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from lockstep.bottlenecks.five_steps import ROOFS, works
from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.checks.plain import plain
from lockstep.exercises.arithmetic import Calls, arithmetic

STEPS = tuple(works(1, 1, 1, 1))
GPU = (1e15, 3.35e12, 5e10)  # FLOP/s, bytes/s, bytes/s
PLAIN = (  # one device; long sequences; two roofs that are equal
    (7 * 10**9, 1, 1, 2**17, *GPU), (7 * 10**9, 4096, 1, 2**17, *GPU), (10**9, 4, 8, 10**9, *GPU),
    (10**9, 300, 8, 10**8, *GPU), (2**30, 256, 2, 0, 2.0**50, 2.0**42, 2.0**36),
    (2**30, 64, 4, 2**20, 2.0**50, 2.0**44, 2.0**37),
)  # fmt: skip


def of_step(name: str, dice: Random) -> Calls:
    """On machines with each roof from a tenth to ten times that of a GPU, or a hundred-thousandth of it, and with a few
    tokens to very many."""
    found: list[tuple[Any, ...]] = []
    for low in (1, 30, 1000, 30_000):
        N, T, K = dice.randint(10**8, 10**10), dice.randint(low, 30 * low), dice.randint(2, 9)
        rates = [float(f"{roof * 10 ** dice.uniform(-1, 1):.3g}") for roof in GPU]
        found.append((N, T, K, dice.randint(1, 2**20), *rates))
    for slow in range(3):
        rates = [rate / (10**5 if n == slow else 1) for n, rate in enumerate(GPU)]
        found.append((dice.randint(10**8, 10**9), 800, 3, 2**17, *rates))
    return [(name, *call) for call in (*found, *PLAIN)]


TRIED = {f"the step {name!r}": partial(of_step, name) for name in STEPS}


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """What the dict has for the step; anything else as it is."""
    answer = fn(*call[1:])
    return plain(answer.get(call[0], f"keys: {', '.join(map(str, answer))}") if isinstance(answer, dict) else answer)


def right(name: str, N: int, T: int, K: int, cache: int, *rates: float) -> tuple[float, frozenset[str]]:
    """Where two roofs are equal, either name is."""
    times = [amount / rate for amount, rate in zip(works(N, T, K, cache)[name], rates, strict=True)]
    longest = max(times)
    return longest, frozenset(roof for roof, t in zip(ROOFS, times, strict=True) if t > longest * (1 - 1e-9))


def steps(name: str, N: int, T: int, K: int, cache: int, *rates: float) -> str:
    flops, moved, sent = works(N, T, K, cache)[name]
    return f"this is {name!r}: {flops:.4g} FLOPs, {moved:.4g} bytes through the memory, {sent:.4g} bytes sent."


EXERCISE = arithmetic(
    TRIED, number=5, title="Five steps, three roofs", points=3, minutes=20, right=right,
    parameters="N, T, K, cache, peak, memory, network",
    reference="lockstep.bottlenecks:five_steps_on_three_roofs",
    values=Values(share=1.0), run=Run(watch=watch),
    feedback=Feedback(
        answer=f"a dict with a pair for each of {', '.join(map(repr, STEPS))}: (seconds, roof),", steps=steps,
        call=lambda call: f"five_steps_on_three_roofs({', '.join(map(repr, call[1:]))})[{call[0]!r}]",
    ),
)  # fmt: skip
