"""The six steps from the serial script to the distributed one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lockstep.errors import UsageError
from lockstep.experiments.horovod.six_steps import (
    PARTS,
    SHOWS,
    compiled,
    evidence,
    forgotten,
    listing,
    measured,
    steps,
    without,
)
from lockstep.with_horovod import script


def test_the_first_listing_is_the_serial_script_and_the_last_one_the_distributed_one() -> None:
    stages = steps()
    assert len(stages) == 7
    assert stages[0].source == listing(script.serial)
    assert stages[-1].source == listing(script.distribute)


def test_a_listing_is_the_source_without_types_and_docstring() -> None:
    lines = listing(script.serial).splitlines()
    assert lines[0] == "def train(model, dataset, checkpoint, epochs, batch, rate, save):"
    assert lines[1] == "    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)"
    assert "#" not in listing(script.serial)


def test_each_step_changes_something_and_follows_the_one_before() -> None:
    stages = steps()
    for before, after in pairwise(stages):
        assert after.before == before.source != after.source
        kept = [line[2:] for line in after.difference.splitlines() if not line.startswith("-")]
        assert kept == [line.rstrip() for line in after.source.splitlines()]
        assert all(len(line) <= 88 for line in after.source.splitlines())


@pytest.mark.parametrize("part", PARTS)
def test_each_part_can_be_left_out_by_itself(part: str) -> None:
    source, whole = without(part).splitlines(), steps()[-1].source.splitlines()
    assert source != whole
    compiled(without(part))


def test_there_is_no_other_part() -> None:
    with pytest.raises(UsageError, match="no part 'shuffle'"):
        without("shuffle")
    with pytest.raises(UsageError, match="'init' cannot be forgotten"):
        forgotten("init")
    assert set(SHOWS) == set(PARTS) - {"init"}


@pytest.mark.horovod
def test_each_step_mends_what_it_is_for() -> None:
    """4 ranks, 16 steps. Rows are shared by step 2, models are equal from step 4 on, step 6 leaves one file."""
    found = [measured(stage.source) for stage in steps()]
    assert [m.times for m in found] == [4, 4, 1, 1, 1, 1, 1]
    assert [m.spread == 0 for m in found] == [False, False, False, False, True, True, True]
    assert [m.files for m in found] == [4, 4, 4, 4, 4, 4, 1]
    assert found[5].loss < 0.7 * found[4].loss
    assert {m.orders for m in found} == {4}


@pytest.mark.horovod
@pytest.mark.parametrize(
    ("part", "lacking", "whole"),
    [("sampler", 4, 1), ("set_epoch", 1, 4), ("save", 4, 1), ("wrap", None, 0), ("broadcast", None, 0)],
)
def test_what_is_forgotten_shows(part: str, lacking: int | None, whole: int) -> None:
    found = forgotten(part)
    assert found.whole == whole
    assert found.without == lacking if lacking is not None else found.without > 1


@pytest.mark.horovod
def test_before_the_gradients_are_averaged_each_rank_goes_its_own_way() -> None:
    found = evidence(without("wrap"))
    models, begun = [one["returned"] for one in found], [one["states"][0] for one in found]
    assert all(bool((state == begun[0]).all()) for state in begun)
    assert not any(bool((model == models[0]).all()) for model in models[1:])
