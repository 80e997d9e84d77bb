"""Why a run cannot go on: the circle of waits, ranks that left, and waits that lead nowhere."""

from __future__ import annotations

from dataclasses import replace

from lockstep.deadlock_report import ALL_SEND, deadlock, some, wait_cycle
from lockstep.errors import Deadlock, RankState


def waits(**by_rank: tuple[int, ...]) -> list[RankState]:
    return [RankState(int(r[1:]), "waiting", f"recv(src={w[0]})" if w else "", waits_for=w) for r, w in by_rank.items()]


def test_the_shortest_circle_is_found_among_bystanders() -> None:
    assert wait_cycle(waits(r0=(1,), r1=(2, 3), r2=(0,), r3=(1,), r4=(0, 1, 2, 3))) == (1, 3)
    assert wait_cycle(waits(r0=(1,), r1=(), r2=(2,))) == (2,)
    assert wait_cycle(waits(r0=(1,), r1=(2,))) == ()


def test_a_circle_is_told_rank_by_rank() -> None:
    error = deadlock(waits(r0=(1,), r1=(2,), r2=(0,)))
    assert isinstance(error, Deadlock)
    assert error.message == "Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank 0."
    assert "Follow the circle" in str(error)


def test_a_rank_that_has_left_is_told_before_any_circle() -> None:
    error = deadlock([*waits(r0=(1, 2), r1=(0, 2)), RankState(2, "finished")])
    assert error.message == "Deadlock: ranks 0 and 1 wait for rank 2, whose function has already returned."
    assert "Let rank 2 take part" in error.remedy


def test_a_rank_that_waits_for_itself() -> None:
    assert "rank 3 waits for itself" in deadlock(waits(r3=(3,))).message


def test_two_ends_that_do_not_meet_are_to_be_compared() -> None:
    """send(dst=1, tag=3) and recv(src=0, tag=4) were told to do what the other waits for: they did."""
    ends = [RankState(0, "waiting", "send", waits_for=(1,), kind="send"), RankState(1, "waiting", waits_for=(0,))]
    assert "same tag and group" in deadlock([ends[0], replace(ends[1], kind="recv")]).remedy
    assert deadlock([ends[0], replace(ends[1], kind="send")]).remedy == ALL_SEND


def test_a_circle_of_receives_is_not_told_to_use_isend() -> None:
    """Gossip whose sends went to the wrong ranks had posted all by isend and irecv, and was told to use them."""
    circle = [replace(s, kind="recv") for s in waits(r0=(2,), r1=(0,), r2=(1,))]
    assert "sent it nothing that fits" in deadlock(circle).remedy
    assert deadlock([replace(circle[0], kind="all_reduce"), *circle[1:]]).remedy == Deadlock.remedy


def test_long_lists_of_ranks_are_cut() -> None:
    assert some([4]) == "rank 4"
    assert some([0, 1, 2]) == "ranks 0, 1 and 2"
    assert some(range(64)) == "ranks 0, 1, 2, 3, 4, 5 and 58 others"


def test_a_receive_from_any_source_is_not_taken_for_the_reason() -> None:
    """Chaos, seed 175: rank 2 had yet to hear from rank 7, which polled for a message of rank 0. The sentence was about
    ranks 0 and 2, which did nothing wrong."""
    barrier = RankState(0, "waiting", "barrier on ranks 0, 2, 7", waits_for=(2, 7))
    funnel = RankState(2, "waiting", "recv(src=any, tag=3)", waits_for=(0, 7), any_source=True)
    polls = RankState(7, "waiting", "recv(src=0, tag=99)", waits_for=(0,))
    assert deadlock([barrier, funnel, polls]).message == "Deadlock: rank 0 waits for rank 7, rank 7 waits for rank 0."
    assert wait_cycle([replace(barrier, waits_for=(2,)), funnel]) == (0, 2)


def test_a_receive_from_any_source_blames_those_who_left_only_when_all_have() -> None:
    anyone = RankState(0, "waiting", "recv(src=any)", waits_for=(1, 2), any_source=True)
    circle = RankState(1, "waiting", "recv(src=0)", waits_for=(0,))
    left = RankState(2, "finished")
    assert "returned" not in deadlock([anyone, circle, left]).message
    assert "already returned" in deadlock([anyone, RankState(1, "finished"), left]).message
