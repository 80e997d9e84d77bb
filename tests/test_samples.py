"""Of a sampled test every n-th row is for `make test`, and none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import samples

pytest_plugins = ["pytester"]
SAMPLE = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("i", range(7))
def test_dear(i): pass

@pytest.mark.parametrize("i", range(2))
def test_cheap(i): pass
"""
CONFTEST = """
import samples

def pytest_configure(config):
    for name in ("slow", "sampled(n)"):
        config.addinivalue_line("markers", name)

def pytest_collection_modifyitems(items):
    samples.mark_the_others(items)
"""


def test_a_test_of_exercises_that_has_no_row_runs_none(pytester: pytest.Pytester, pytestconfig: pytest.Config) -> None:
    """`pytest -k …` in tests/ ended in an INTERNALERROR: "NotSetType object has no attribute topic"."""
    ours = next(one for one in pytestconfig.pluginmanager.get_plugins() if hasattr(one, "runs_horovod"))
    (item,) = pytester.getitems(
        """
        import pytest

        @pytest.mark.runs("exercise")
        @pytest.mark.parametrize("exercise", [])
        def test_it(exercise): pass
        """
    )
    assert not ours.runs_horovod(item)


@pytest.mark.parametrize(
    ("mark", "rows"), [("", "01234560 1"), ("not slow", "0 3 601"), ("slow", "1245")], ids=["all", "fast", "slow"]
)
def test_every_third_row_is_fast(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, mark: str, rows: str
) -> None:
    monkeypatch.syspath_prepend(str(Path(samples.__file__).parent))
    pytester.makepyfile(SAMPLE)
    pytester.makeconftest(CONFTEST)
    result = pytester.inline_run("-p", "no:xdist", "-m", mark)
    passed, _, failed = result.listoutcomes()
    assert not failed
    assert [report.nodeid[-2] for report in passed] == [*rows.replace(" ", "")]
