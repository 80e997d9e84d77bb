"""Tests that take turns: each has one, and only where turns are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import turns

pytest_plugins = ["pytester"]

SAMPLE = """
import pytest

@pytest.mark.turns(3)
@pytest.mark.parametrize("i", range(9))
def test_long(i): pass

@pytest.mark.turns(2, of="pair")
def test_one(): pass

@pytest.mark.turns(2, of="pair")
def test_other(): pass

def test_short(): pass
"""
CONFTEST = """
import turns

def pytest_configure(config):
    config.addinivalue_line("markers", "turns")

def pytest_addoption(parser):
    turns.add_option(parser)

def pytest_collection_modifyitems(config, items):
    turns.apply(config, items)
"""


@pytest.fixture
def ran(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(turns.__file__).parent))
    pytester.makepyfile(SAMPLE)
    pytester.makeconftest(CONFTEST)

    def names(number: int, *options: str) -> list[str]:
        monkeypatch.setattr(turns, "number", lambda config: number)
        result = pytester.inline_run("-p", "no:xdist", *options)
        passed, _, failed = result.listoutcomes()
        assert not failed
        return [report.nodeid.partition("::")[2] for report in passed]

    return names


def test_all_run_where_no_turns_are_asked_for(ran) -> None:
    assert len(ran(1)) == 12


def test_three_commits_take_each_test_once_and_a_third_of_them_each(ran) -> None:
    runs = [[name for name in ran(number, turns.OPTION) if "long" in name] for number in (100, 101, 102)]
    assert [len(run) for run in runs] == [3, 3, 3]
    assert len({name for run in runs for name in run}) == 9


def test_what_has_one_name_has_its_turn_together_and_what_is_short_always_runs(ran) -> None:
    with_it, without = ran(0, turns.OPTION), ran(1, turns.OPTION)
    assert [name for name in with_it if "long" not in name] == ["test_one", "test_other", "test_short"]
    assert [name for name in without if "long" not in name] == ["test_short"]
