"""What lesson 06 runs with a learner's line in it, and the small things that it counts."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.experiments.without_waiting import consensus, your_line
from lockstep.experiments.without_waiting.backup_workers import advice_table
from lockstep.experiments.without_waiting.ingress import step_of
from lockstep.experiments.without_waiting.interleavings import played
from lockstep.experiments.without_waiting.lecture_notes import DELAYED, SYNCHRONOUS, each, notes_table, of
from lockstep.experiments.without_waiting.published import hogwild_table
from lockstep.experiments.without_waiting.race import recorded
from lockstep.experiments.without_waiting.waiting import asynchronous_staleness
from lockstep.experiments.without_waiting.your_line import (
    classes_table,
    driven_local,
    driven_server,
    driven_topk,
    in_turn,
    meets,
    thrown_away,
)
from lockstep.without_waiting.parameter_server import work
from lockstep.without_waiting.problems import GRADIENT, cluster


def is_near(step: int, others: list[int], bound: float) -> bool:
    return all(done >= step - bound for done in others)


def clocks(bound: float) -> list[list[list[float]]]:
    """By worker, the w of each of its four steps: element r counts the updates of rank r. Worker 1 is slow."""

    def program() -> list[list[float]]:
        rank, seen = dist.get_rank(), list[list[float]]()
        start = torch.zeros(4, dtype=torch.float64)

        def one_hot(w: Tensor, step: int) -> Tensor:
            seen.append(w.tolist())
            torch.ones(64, 64) @ torch.ones(64, 64)  # takes the slow one longer
            return -torch.eye(4, dtype=torch.float64)[rank]

        if rank == 0:
            return [driven_server(start, 1.0, bound, is_near).tolist()]
        work(one_hot, start, 4)
        return seen

    return run(program, ranks=4, on=cluster(straggler=4)).values


def test_a_right_line_keeps_the_bound_and_all_updates_arrive() -> None:
    for bound in (0, 1, math.inf):
        (final,), *workers = clocks(bound)
        assert final == [0, 4, 4, 4]
        for rank, seen in enumerate(workers, start=1):
            assert [w[rank] for w in seen] == [0, 1, 2, 3]
            assert all(min(w[1:]) >= step - bound for step, w in enumerate(seen))


def test_without_a_bound_the_fast_run_ahead() -> None:
    _, _, fast, _ = clocks(math.inf)
    assert fast[-1][1] < 2


def test_local_sgd_by_the_line_ends_where_the_mean_is() -> None:
    """On the ranks' losses (w - r)² / 2, for five steps of rate 1/2: any period gives the mean of the models."""

    def program(period: int) -> float:
        own = torch.tensor(float(dist.get_rank()), dtype=torch.float64)
        return driven_local(lambda w, step: w - own, torch.zeros_like(own), 5, 0.5, period, meets).item()

    for period in (1, 2, 7):
        assert run(program, period, ranks=4, on="virtual").values == [1.5 * (1 - 0.5**5)] * 4


def test_a_residual_that_is_kept_is_sent_later() -> None:
    gradient = torch.tensor([3.0, 1.0, 2.0])

    def program(keeps: bool) -> list[float]:
        left = (lambda total, sent: total - sent) if keeps else thrown_away
        return driven_topk(lambda w, step: gradient, torch.zeros(3), 12, 1.0, 1, left).tolist()

    kept, lost = (run(program, keeps, ranks=2, on="virtual").values[0] for keeps in (True, False))
    assert lost == [-36, 0, 0]
    assert max(kept) < 0  # all three have moved; what has not is in the residual


def test_programs_in_turn_each_begin_at_zero() -> None:
    def program() -> Tensor:
        x = torch.ones(1)
        dist.all_reduce(x)
        return x

    first, second = in_turn([program, program], 2, cluster())
    assert first.w == second.w == 2
    for done in (first, second):
        assert [event.kind for event in done.trace.communication] == ["all_reduce"] * 2
    assert math.isclose(first.trace.time, second.trace.time)


def test_with_equal_workers_a_gradient_is_as_stale_as_there_are_others() -> None:
    assert asynchronous_staleness(workers=3, steps=5) == {0: 1, 1: 1, 2: 13}


def test_of_two_thousand_additions_two_survive_at_worst() -> None:
    n = 1000
    worst = "A" + "BB" * (n - 1) + "A" + "B" + "AA" * (n - 1) + "B"
    assert (worst.count("A"), worst.count("B"), played(worst)) == (2 * n, 2 * n, 2)
    assert played("AABB" * n) == 2 * n
    dice, halves = Random(0), list("AAAABBBB")
    for _ in range(200):
        dice.shuffle(halves)
        assert 2 <= played("".join(halves)) <= 4


def test_by_class_each_rank_has_digits_of_its_own() -> None:
    rows = classes_table().rows
    assert sum(int(n) for row in rows for n in row[1:] if n) == 1280
    assert any(row.count("") >= 5 for row in rows)


def test_what_is_published_names_its_source() -> None:
    assert {row[-1] for row in hogwild_table().rows} == {"arXiv:1106.5730, Experiments"}


def test_what_lesson_06_says_of_the_races_holds() -> None:
    for one in recorded():
        first = min(one.arrivals, key=lambda arrival: arrival.seconds or math.inf).method
        assert first != "synchronous"
        assert one.link != "fast" or first.startswith("server")
        assert one.link != "very slow" or first.startswith(("local SGD", "top-k"))
    assert len({one.arrivals[0].updates for one in recorded()}) == 1
    agree = [row[-1].startswith("Right") for row in notes_table().rows]
    assert agree.count(False) == 1


def test_a_delay_hides_the_shorter_one_of_gradient_and_all_reduce() -> None:
    for link in ("fast", "slow"):
        calm = of(1, link)
        reduced = each(calm[SYNCHRONOUS]) - GRADIENT
        hidden = each(calm[SYNCHRONOUS]) - each(calm[DELAYED])
        assert abs(hidden - min(GRADIENT, reduced)) < 0.05 * GRADIENT


@pytest.mark.slow
def test_what_lesson_06_says_of_ports_and_backup_workers_holds() -> None:
    steps = [step_of(64, servers).formula for servers in (1, 4, 0)]
    assert [round(1e3 * seconds) for seconds in steps] == [258, 66, 48]
    times = {row[0]: float(row[1].removesuffix(" ms")) for row in advice_table().rows}
    assert times["4 backup workers"] < times["asynchronous"], "the lesson compares the two, as its claim has it"


def test_a_table_of_periods_shares_its_trainings_with_the_loss_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lesson trained with the period of 64 twice."""
    runs = []
    monkeypatch.setattr(
        your_line, "in_turn", lambda programs, *where: runs.append(programs) or in_turn(programs, *where)
    )
    loss = your_line.local_loss(64, alpha=0.1, ranks=2)
    assert your_line.periods_table(meets, alpha=0.1, ranks=2).rows[-1][2] == f"{loss:.3f}"
    assert len(runs) == 1


def test_a_learners_line_runs_anew_each_time() -> None:
    """What it read had changed, and the table was the old one."""
    every = [4]
    meets = learners(every)
    before = your_line.periods_table(meets, periods=(1,), ranks=2).rows
    every[0] = 1
    assert your_line.periods_table(meets, periods=(1,), ranks=2).rows != before


def learners(every: list[int]) -> your_line.Meets:
    return lambda step, steps, period: (step + 1) % every[0] == 0


def test_a_graph_and_the_table_of_graphs_share_their_runs() -> None:
    """The lesson gossiped on the ring twice."""
    assert consensus.measured(ranks=2, most=3)[0] is consensus.measured(ranks=2, most=3)[0]
