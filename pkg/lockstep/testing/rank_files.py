"""The folder through which a rank tells pytest what a run does not carry: how its test failed, and what it logged.

Each rank writes files of its own, so that they are there whichever way it ended.
"""

from __future__ import annotations

import json
import logging
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEPT = ("name", "levelno", "levelname", "pathname", "filename", "module", "lineno", "funcName", "created", "msecs")


@dataclass(frozen=True)
class Failure:
    """How a test ended on a rank by an exception."""

    printed: Any  # what pytest prints of it: an ExceptionChainRepr
    pickled: bytes | None  # the exception itself, if it has a pickle
    outcome: str = ""  # "Skipped", "Failed", "XFailed": of pytest.skip and the like, which have none
    message: str = ""


@dataclass(frozen=True)
class RankFiles:
    folder: Path

    def fail(self, rank: int, failure: Failure) -> None:
        (self.folder / f"failure-{rank}").write_bytes(pickle.dumps(failure))

    def failure(self, rank: int) -> Failure | None:
        """How the test failed on ``rank``; None if it did not, or if this machine does not have the file."""
        file = self.folder / f"failure-{rank}"
        if not file.exists():
            return None
        found: Failure = pickle.loads(file.read_bytes())
        return found

    def log(self, rank: int, record: logging.LogRecord) -> None:
        row = {key: getattr(record, key) for key in KEPT} | {"msg": f"[rank {rank}] {record.getMessage()}"}
        with open(self.folder / f"log-{rank}", "a", encoding="utf-8") as file:
            file.write(json.dumps(row | {"rank": rank}) + "\n")

    def records(self) -> list[logging.LogRecord]:
        """What all ranks logged, by their clocks."""
        lines = [line for file in self.folder.glob("log-*") for line in file.read_text("utf-8").splitlines()]
        return sorted(map(logging.makeLogRecord, map(json.loads, lines)), key=lambda r: (r.created, vars(r)["rank"]))
