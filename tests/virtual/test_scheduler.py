"""The baton: exactly one rank runs, and it is always the one with the smallest virtual clock."""

from __future__ import annotations

import threading

from lockstep.virtual.scheduler import Scheduler


class Moments:
    """An agenda: what was put on it is logged when it is settled."""

    def __init__(self, scheduler, log):
        self.moment, self.scheduler, self.log = float("inf"), scheduler, log
        self.wakes = None

    def add(self, moment, wakes=None):
        self.moment, self.wakes = moment, wakes

    def settle(self):
        self.log.append(("settled", self.moment))
        self.moment = float("inf")
        if self.wakes:
            self.scheduler.wake(*self.wakes)


def play(ranks, life, ties=None):
    """Run ``life(scheduler, rank, log)`` on each rank's thread; the log of what they did, and whether they stalled."""
    log, stalled, done = [], threading.Event(), threading.Event()
    scheduler = Scheduler(ranks, on_stall=lambda: (stalled.set(), done.set()), on_switch=lambda _: None, ties=ties)
    scheduler.agenda = Moments(scheduler, log)

    def body(rank):
        scheduler.begin(rank)
        life(scheduler, rank, log)
        scheduler.finish(rank)
        if all(scheduler.finished):
            done.set()

    for rank in range(ranks):
        threading.Thread(target=body, args=(rank,), daemon=True).start()
    scheduler.start()
    assert done.wait(10)
    return log, stalled.is_set()


def test_who_is_behind_in_virtual_time_goes_first():
    def life(scheduler, rank, log):
        for _ in range(3):
            scheduler.pause(rank)
            log.append((round(scheduler.clock[rank], 3), rank))
            scheduler.advance(rank, 0.1 * (rank + 1))

    log, stalled = play(3, life)
    assert not stalled
    assert log == sorted(log)
    assert log == [(0.0, 0), (0.0, 1), (0.0, 2), (0.1, 0), (0.2, 0), (0.2, 1), (0.3, 2), (0.4, 1), (0.6, 2)]


def test_a_blocked_rank_goes_on_when_it_is_woken_and_not_before():
    def life(scheduler, rank, log):
        if rank == 0:
            scheduler.block(0)
            log.append(("woken at", scheduler.clock[0]))
        else:
            scheduler.advance(1, 1.0)
            scheduler.wake(0, 3.0)
            log.append(("wakes", scheduler.clock[1]))

    assert play(2, life) == ([("wakes", 1.0), ("woken at", 3.0)], False)


def test_the_scheduler_says_so_when_nobody_can_go_on():
    _, stalled = play(2, lambda scheduler, rank, log: scheduler.block(rank))
    assert stalled


def test_what_is_done_takes_effect_in_the_order_of_clocks_while_the_rank_goes_on():
    def life(scheduler, rank, log):
        scheduler.advance(rank, [3.0, 1.0, 2.0][rank])
        scheduler.act(rank, lambda what: log.append((what, scheduler.clock[rank])), "takes effect")
        log.append(("goes on", rank))
        scheduler.block(rank) if rank == 1 else scheduler.pause(rank)

    log, stalled = play(3, life)
    assert [r for what, r in log if what == "goes on"] == [0, 1, 2], "nobody gave the baton away to act"
    assert [time for what, time in log if what == "takes effect"] == [1.0, 2.0, 3.0]
    assert stalled


def test_what_the_last_rank_does_takes_effect_before_all_are_done():
    def life(scheduler, rank, log):
        scheduler.advance(rank, 1.0 - rank)
        scheduler.act(rank, log.append, rank)

    log, stalled = play(2, life)
    assert sorted(log) == [0, 1]
    assert not stalled


def test_what_was_posted_is_settled_when_nobody_can_act_at_that_time_any_more():
    def life(scheduler, rank, log):
        scheduler.pause(rank)
        log.append(("acts", rank))
        scheduler.agenda.add(0.0)
        scheduler.advance(rank, 1.0)
        scheduler.pause(rank)
        log.append(("acts again", rank))

    log, _ = play(3, life)
    assert log == [*(("acts", r) for r in range(3)), ("settled", 0.0), *(("acts again", r) for r in range(3))]


def test_who_blocks_is_woken_by_what_is_settled():
    def life(scheduler, rank, log):
        scheduler.agenda.add(0.0, wakes=(rank, 2.0))
        scheduler.settle(lambda: False)
        scheduler.block(rank)
        log.append(("woken at", scheduler.clock[rank]))

    assert play(1, life) == ([("settled", 0.0), ("woken at", 2.0)], False)


def test_who_asks_goes_on_after_all_others_have_acted_and_all_is_settled():
    def life(scheduler, rank, log):
        if rank == 0:
            scheduler.ask(0)
            log.append(("goes on", 0))
        else:
            log.append(("acts", rank))
            scheduler.agenda.add(0.0)

    assert play(3, life)[0] == [("acts", 1), ("acts", 2), ("settled", 0.0), ("goes on", 0)]


def test_all_who_asked_at_one_time_go_on_before_anything_is_settled_again():
    def life(scheduler, rank, log):
        scheduler.ask(rank)
        log.append(("goes on", rank))
        scheduler.agenda.add(0.0)

    for ties in (None, *range(6)):
        log = play(3, life, ties)[0]
        assert sorted(log[:3]) == [("goes on", 0), ("goes on", 1), ("goes on", 2)]
        assert log[3:] == [("settled", 0.0)]


def test_ties_are_broken_by_a_seed_and_time_goes_on_as_ever():
    def life(scheduler, rank, log):
        for _ in range(2):
            scheduler.pause(rank)
            log.append((scheduler.clock[rank], rank))
            scheduler.advance(rank, 1.0)

    orders = [[rank for time, rank in play(5, life, ties)[0] if time == 0] for ties in (None, 1, 2)]
    assert orders[0] == [0, 1, 2, 3, 4] == sorted(orders[1]) == sorted(orders[2])
    assert orders[0] != orders[1] != orders[2]
    assert [time for time, _ in play(5, life, 1)[0]] == [0.0] * 5 + [1.0] * 5
