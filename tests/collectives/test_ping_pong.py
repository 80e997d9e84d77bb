"""Ping-pong, judged by its messages; its seconds only by their meaning."""

import pytest
import torch.distributed as dist
from collective_cases import WORLDS

from lockstep import collectives
from lockstep.worlds import run


def play(nbytes: int, repeats: int) -> float:
    return collectives.ping_pong(nbytes, repeats)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("on", WORLDS.values(), ids=WORLDS.keys())
@pytest.mark.parametrize(("K", "nbytes", "repeats"), [(1, 8, 3), (2, 0, 1), (2, 1000, 5), (4, 7, 2)])
def test_ranks_0_and_1_play_and_the_others_are_idle(K: int, nbytes: int, repeats: int, on: str) -> None:
    result = run(play, nbytes, repeats, ranks=K, on=on)
    for rank in range(K):
        playing = K > 1 and rank < 2
        events = [e for e in result.trace.of_rank(rank) if e.kind in ("send", "recv")]
        first = ["send", "recv"] if rank == 0 else ["recv", "send"]
        assert [(e.kind, e.nbytes) for e in events] == [(k, nbytes) for k in first * (repeats + 1)] * playing
        assert (result.values[rank] > 0) == playing


def play_in_a_group() -> float:
    group = dist.new_group([1, 3])
    return collectives.ping_pong(16, 2, group) if dist.get_rank() in (1, 3) else -1.0


def test_ranks_of_the_group_play() -> None:
    result = run(play_in_a_group, ranks=4, on="laptop")
    assert [r for r in range(4) if result.trace.sent(r).number] == [1, 3]
    assert result.values[0] == result.values[2] == -1.0


def test_it_measures_one_way() -> None:
    """One way is half of what the same run's trace shows for the messages there and back."""
    result = run(play, 1 << 20, 20, ranks=2, on="processes")
    events = [e for e in result.trace.of_rank(0) if e.kind in ("send", "recv")][2:]
    span = events[-1].end - events[0].start
    assert result.values[0] == pytest.approx(span / 40, rel=0.5)
