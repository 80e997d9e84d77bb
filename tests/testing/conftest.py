"""A runner for the tests of the plugin, and one measurement of this machine for all of them."""

import pytest
from plugin_under_test import Runner


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.getbasetemp() / "home")


@pytest.fixture(autouse=True)
def _one_survey(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """pytester gives each test another home."""
    monkeypatch.setenv("LOCKSTEP_HOME", home)


@pytest.fixture
def ran(pytester: pytest.Pytester) -> Runner:
    return Runner(pytester)
