"""A home for predictions that is not the developer's own, and no lesson that another test has begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.lessons import session


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.setattr(session, "_current", session.Session())
