"""The stopwatch of the chaos tests, and what it tells at the end (of each process that runs tests)."""

from __future__ import annotations

from pathlib import Path

import pytest
from chaos_stopwatch import Stopwatch, summary


@pytest.fixture
def stopwatch(tmp_path: Path) -> Stopwatch:
    return Stopwatch(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in summary():
        terminalreporter.write_line(line)
