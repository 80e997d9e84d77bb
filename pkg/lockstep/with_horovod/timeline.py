"""Horovod's own timeline: a list of events in Chrome's trace format, written by rank 0, the coordinator.

{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "allreduce.w"}}     row 1 is the tensor allreduce.w
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 23365, "pid": 1}                  something begins there, in µs
{"ph": "X", "name": "3", "ts": 23418, "pid": 1, "dur": 0}                          rank 3 has it ready
{"ph": "E", "ts": 31551, "pid": 1}                                                 what began last there ends
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Timeline = list[dict[str, Any]]


def read(path: Path) -> Timeline:
    """The events in a file that Horovod has written: it ends the list only when it is shut down in due form."""
    text = path.read_text().strip().rstrip(",")
    found: Timeline = json.loads(text if text.endswith("]") else f"{text}]")
    return found
