"""What programs take for global: clocks that are asked again and again, event loops, modules that warn."""

import asyncio
import time

import pytest
import torch
import torch.distributed as dist

from lockstep import run


@pytest.mark.parametrize("clock", ["time", "monotonic", "perf_counter", "perf_counter_ns"])
def test_a_loop_that_waits_for_the_clock_ends(clock):
    """It was Stuck after ten seconds: Python costs no virtual time, so the clock stood still."""
    unit = 1e-9 if clock.endswith("ns") else 1.0

    def fn(seconds):
        start, now = time.perf_counter(), getattr(time, clock)
        until = now() * unit + seconds
        while now() * unit < until:
            pass
        return time.perf_counter() - start

    for seconds in (1e-5, 0.2):
        waited = run(fn, seconds, ranks=1, on="dgx-a100").values[0]
        assert seconds * 0.98 <= waited <= seconds * 1.02 + 1e-6


def test_looking_at_the_clock_once_takes_no_time():
    def fn():
        times = []
        for _ in range(3):
            start = time.perf_counter()
            time.sleep(0.25)
            times.append(time.perf_counter() - start)
        return times

    assert run(fn, ranks=1, on="dgx-a100").values[0][0] == 0.25


def test_an_event_loop_ends():
    """It waited for the host's time to pass, and asked the rank's clock whether it had."""

    async def later(seconds):
        await asyncio.sleep(seconds)
        return dist.get_rank()

    async def all_of_them():
        return await asyncio.gather(later(0.02), later(0.01))

    assert run(lambda: asyncio.run(all_of_them()), ranks=2, on="dgx-a100").values == [[0, 0], [1, 1]]


def test_torch_compile_warns_of_nothing():
    """It looks at all of torch, and torch warns of old names there: "streams.py:102: UserWarning: 'has_cuda' ..."."""

    def fn():
        return torch.compile(lambda x: 2 * x, backend="eager")(torch.ones(2))

    result = run(fn, ranks=1, on="dgx-a100")
    assert result.printed == ""
    assert result.values[0].tolist() == [2.0, 2.0]
