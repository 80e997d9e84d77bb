"""What the exercises of unit 13 are drawn from: each trap is there, and recorded files are what their scripts make."""

from collections.abc import Callable
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from random import Random
from threading import Thread, get_ident
from types import FunctionType
from typing import Any

import pytest
import torch

from lockstep import checks
from lockstep.bottlenecks import checkpoint_without_stopping, hung_ranks
from lockstep.bottlenecks.hung_ranks import members, operation, post_mortem, waiting
from lockstep.bottlenecks.profiles import CAUSES, COMPUTING, LEAST, costs, name_the_bottleneck, steps_of
from lockstep.exercises.bottlenecks import drawn_profiles, observed_checkpoints, recorded_loops, varied_dumps
from lockstep.exercises.bottlenecks.watched_tensors import unwatched, watched
from lockstep.experiments.bottlenecks import incidents, recorded_profiles

DAYS = list(incidents.INCIDENTS)


@pytest.mark.slow
def test_the_incidents_are_those_of_their_script() -> None:
    text = files("lockstep").joinpath(*incidents.FILE.parts).read_text(encoding="utf-8")
    assert incidents.written(incidents.computed()) == text


def test_the_ranks_at_fault_are_found_and_all_four_causes_occur() -> None:
    found = {day: post_mortem(incidents.recorded(day)) for day in DAYS}
    assert {day: culprit.rank for day, culprit in found.items()} == {d: r for d, (_, r) in incidents.AT_FAULT.items()}
    assert {culprit.cause for culprit in found.values()} == set(hung_ranks.CAUSES)


def test_whoever_prints_the_incidents_learns_no_culprit() -> None:
    """They were a dict once, with each program and the rank at fault: a look at it was the answer."""
    assert list(incidents.INCIDENTS) == list(incidents.AT_FAULT)
    for program, rank in incidents.AT_FAULT.values():
        assert program.__name__ not in str(incidents.INCIDENTS)
        assert str(rank) not in str(incidents.INCIDENTS)


@pytest.mark.parametrize("day", DAYS)
def test_an_absent_rank_is_all_that_one_operation_lacks(day: str) -> None:
    dumps = incidents.recorded(day)
    waits, groups, culprit = waiting(dumps), members(dumps), post_mortem(dumps)
    lacking = {
        operation(entry): {
            r for r in groups[operation(entry).group] if r not in waits or operation(waits[r]) != operation(entry)
        }
        for entry in waits.values()
    }
    assert sum(missing == {culprit.rank} for missing in lacking.values()) == (
        culprit.cause in ("absent", "other order")
    )


@pytest.mark.parametrize("day", DAYS)
def test_varied_dumps_tell_of_the_same_incident(day: str) -> None:
    culprit, others = post_mortem(incidents.recorded(day)), set()
    for seed in range(4):
        varied = post_mortem(varied_dumps.varied(incidents.recorded(day), Random(seed)))
        assert varied.cause == culprit.cause
        others.add((varied.rank, varied.line))
    assert len(others) > 2


def test_a_wrong_answer_is_told_its_first_wrong_part_and_no_right_one(tmp_path: Path) -> None:
    """It was "gives (3, …); it is (41, 'train.py, line 30, in train', 'absent')": a day's whole solution."""
    tell = checks.find("bottlenecks.post_mortem").feedback.apart
    assert tell
    right = post_mortem(incidents.recorded(DAYS[0]))
    rank, line, cause = right.rank + 1, "train.py, line 1, in train", "other reason"
    told = [
        tell((rank, line, cause), right),
        tell((right.rank, line, cause), right),
        tell((*right[:2], cause), right),
    ]
    assert told == [
        f"rank {rank}; the hang did not begin there",
        f"the right rank, and the line {line!r}, which is not the one that is asked for",
        f"the right rank and line, and the cause {cause!r}; it is another one",
    ]
    (tmp_path / "answer.py").write_text("def post_mortem(dumps):\n    return -1, '', 'absent'\n")
    score = checks.check_file("bottlenecks.post_mortem", tmp_path / "answer.py", keep=False)
    assert "rank -1; the hang did not begin there." in score.findings[0].message
    assert "in train" not in score.findings[0].message


def test_no_entry_tells_the_cause() -> None:
    lines = {
        e["frames"][0]["filename"] for day in DAYS for dump in incidents.recorded(day) if dump for e in dump["entries"]
    }
    assert {line.partition(",")[0] for line in lines} == {"train.py"}
    assert {line.rpartition(" ")[2] for line in lines} == {"train"}


@pytest.mark.slow
def test_the_profiles_are_those_of_their_script() -> None:
    text = files("lockstep").joinpath(*recorded_profiles.FILE.parts).read_text(encoding="utf-8")
    assert recorded_profiles.written(recorded_profiles.computed()) == text


def test_the_eight_loops_lose_time_to_each_cause_to_two_and_to_none() -> None:
    causes = {
        letter: [
            cause
            for cause, share in zip(CAUSES, name_the_bottleneck(*recorded_profiles.recorded(letter)), strict=True)
            if share
        ]
        for letter in recorded_profiles.LOOPS
    }
    assert len(causes) == 8
    assert sorted(map(len, causes.values())) == [0, 1, 1, 1, 1, 1, 1, 2]
    assert {cause for found in causes.values() for cause in found} == set(CAUSES)


@pytest.mark.parametrize("letter", recorded_profiles.LOOPS)
def test_the_steps_of_a_recorded_loop_add_up_to_its_time(letter: str) -> None:
    spans, _ = recorded_profiles.recorded(letter)
    ends = max(end for *_, end in spans)
    assert sum(step.takes() for step in steps_of(spans).values()) == pytest.approx(ends, abs=len(spans))


@pytest.mark.parametrize("seed", range(3))
def test_no_drawn_share_is_near_the_bound_and_varied_loops_lose_the_same(seed: int) -> None:
    for name, calls in drawn_profiles.TRIED.items():
        for profile in calls(Random(seed)):
            assert all(abs(share - LEAST) > 0.008 for share in costs(*profile).values()), name
    for letter in recorded_profiles.LOOPS:
        profile = recorded_profiles.recorded(letter)
        assert costs(*drawn_profiles.varied(profile, Random(seed))) == pytest.approx(costs(*profile), abs=1e-9)


def test_what_hides_behind_a_slower_rank_costs_nothing() -> None:
    """Where it is longer than what the slower rank computes, what stands out is lost, and no straggler is seen: each
    second profile reads numbers, the others wait for batches."""
    found = [[share > 0 for share in name_the_bottleneck(*one)] for one in drawn_profiles.behind_another(Random(0))]
    behind, loader, reading = [False, False, True, False], [True, False, False, False], [False, True, False, False]
    assert found == [*[behind] * 4, loader, reading, *[behind] * 2, loader, reading]


def test_where_equal_computing_makes_steps_longer_the_share_is_negative_or_what_is_left_of_it() -> None:
    profiles = drawn_profiles.longer_when_even(Random(0))
    shares = [costs(*profile)["straggler"] for profile in profiles]
    assert max(shares[:4]) < -0.15
    assert min(shares[4:]) > LEAST
    assert [name_the_bottleneck(*profile)[2] for profile in profiles] == [0.0] * 4 + shares[4:]
    for spans, _ in profiles[4:]:
        saved = [step.takes() - step.takes("straggler") for step in steps_of(spans).values()]
        assert min(saved) < -500
        assert max(saved) > 500


def test_an_idle_rank_has_no_span_of_computing() -> None:
    for spans, _ in drawn_profiles.idle(Random(0)):
        computing = {(rank, step) for rank, step, name, *_ in spans if name in COMPUTING}
        of_steps = [
            sum((rank, step) in computing for rank in of_step.ranks) for step, of_step in steps_of(spans).items()
        ]
        assert all(0 < n < len(of_step.ranks) for n, of_step in zip(of_steps, steps_of(spans).values(), strict=True))


def test_a_loop_does_not_tell_which_one_it_is() -> None:
    """It was an object, and ``fn._numbers`` had its times."""
    loops = [recorded_loops.loop(name) for name in recorded_loops.LOOPS]
    assert all(isinstance(fn, FunctionType) and not vars(fn) for fn in loops)
    assert len({(fn.__name__, fn.__qualname__, fn.__doc__, fn.__code__) for fn in loops}) == 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="and 300 are left"):
        [loops[0](steps) for steps in (700, 301)]
    assert len(loops[1](1)) > 3


def test_a_watched_tensor_tells_in_which_thread_it_is_read_and_copies_are_plain() -> None:
    readers: list[int] = []
    tensor = torch.arange(6.0)
    state = watched({"weight": tensor}, lambda: readers.append(get_ident()))
    thread = Thread(target=lambda: state["weight"].detach().view(2, 3).sum())
    thread.start()
    thread.join()
    assert len(readers) == 3  # a view of it tells, too
    assert get_ident() not in readers
    copies = [state["weight"].clone(), deepcopy(state)["weight"], torch.empty_like(state["weight"]).copy_(tensor)]
    assert {get_ident()} < set(readers)
    assert all(type(copy) is torch.Tensor and copy.data_ptr() != tensor.data_ptr() for copy in copies)
    known = len(readers)
    assert unwatched(state)["weight"].data_ptr() == tensor.data_ptr()
    assert len(readers) == known


def watched_run(fn: Callable[..., Any], told: str) -> list[dict[str, Any]]:
    rows = observed_checkpoints.TRIED[told]
    return [observed_checkpoints.facts(*row, 5, observed_checkpoints.watch(fn, (*row, 5))) for row in rows]


@pytest.mark.parametrize("told", observed_checkpoints.TRIED)
def test_a_right_training_meets_each_write_while_it_goes_on(told: str) -> None:
    """What it hands over is the state of that step, though the tensors have other values until the write has ended."""
    for found, row in zip(
        watched_run(checkpoint_without_stopping, told), observed_checkpoints.TRIED[told], strict=True
    ):
        steps, every, fails, _ = row
        dues = list(range(every, steps + 1, every))
        assert [write["has"] for write in found["writes"]] == [write["due"] for write in found["writes"]] == dues
        assert not any(write["blocks"] or write["changes"] or write["early"] for write in found["writes"])
        assert found["returned"] == list(fails)
        assert found["stands"]
        assert found["alive"] == 0


def test_a_training_that_waits_is_told_so_and_does_not_hang() -> None:
    def waits(train_step: Any, state: Any, steps: int, every: int, disk: Any) -> list[int]:
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                thread = Thread(target=disk.write, args=("checkpoint", deepcopy(state)))
                thread.start()
                thread.join()
        return []

    (found,) = watched_run(waits, "one checkpoint")
    assert found["blocks"]["due"] == 3
    assert found["made"] == found["steps"]
