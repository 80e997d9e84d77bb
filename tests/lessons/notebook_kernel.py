"""A real kernel, and a front end that keeps each cell's outputs: also those that come when another cell runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import nbformat
from kernels import started

from lockstep.lessons import running

FOLDER = "course/90_acting"  # of the sample lesson
PATIENCE = 60  # seconds until a kernel that says nothing is given up


class Front:
    """``outputs[i]`` is what stands below cell i, in words."""

    def __init__(self, notebook: Path) -> None:
        self.cells = nbformat.read(notebook, as_version=4).cells
        self.outputs: dict[int, list[str]] = {}
        self.errors: dict[int, str] = {}
        self._streaming: int | None = None  # the cell whose last output was a stream's
        self._sent: dict[str, int] = {}
        self._displayed: dict[str, tuple[int, int]] = {}  # by display id: the cell, and the number of its output
        self.manager, self.client = started(notebook.parent)
        self.number = {cell.id: i for i, cell in enumerate(self.cells)}

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def find(self, text: str) -> int:
        return next(i for i, cell in enumerate(self.cells) if text in cell.source)

    def run_all(self) -> None:
        for i, cell in enumerate(self.cells):
            if cell.cell_type == "code":
                self.run(i)

    def run(self, i: int, source: str = "", with_id: bool = True) -> list[str]:
        """Run cell ``i``, or ``source`` in its place; wait until the kernel is idle and nothing more comes."""
        self._clear(i)
        message = self.client.session.msg("execute_request", _request(source or self.cells[i].source))
        message["metadata"] = {"cellId": self.cells[i].id} if with_id else {}
        self._sent[message["header"]["msg_id"]] = i
        self.client.shell_channel.send(message)
        self._listen(message["header"]["msg_id"])
        return self.outputs[i]

    def settle(self) -> None:
        """Wait for what the kernel does by itself."""
        self.run(0, "'settled'")
        self.run(0, "'settled'")

    def _listen(self, asked: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            parent, content = message["parent_header"].get("msg_id"), message["content"]
            if parent in self._sent:
                self._take(self._sent[parent], message["msg_type"], content)
            if parent == asked and message["msg_type"] == "status" and content["execution_state"] == "idle":
                return
        raise AssertionError("the kernel has not become idle")

    def _clear(self, i: int) -> None:
        self.outputs[i] = []
        self._displayed = {name: place for name, place in self._displayed.items() if place[0] != i}

    def _take(self, i: int, kind: str, content: dict[str, Any]) -> None:
        if kind == "clear_output":
            self._clear(i)
        elif kind == "stream":  # on a busy machine one print comes in two messages: a notebook joins them, too
            joined = self.outputs[i].pop() if self._streaming == i and self.outputs[i] else ""
            self.outputs[i].append(joined + content["text"])
        elif kind in ("execute_result", "display_data"):
            display_id = content.get("transient", {}).get("display_id", "")
            if not display_id.startswith(running.MARK):  # a busy machine
                self._displayed[display_id] = i, len(self.outputs[i])
                self.outputs[i].append(content["data"]["text/plain"])
        elif kind == "update_display_data" and content["transient"]["display_id"] in self._displayed:
            cell, place = self._displayed[content["transient"]["display_id"]]
            self.outputs[cell][place] = content["data"]["text/plain"]
        elif kind == "error":
            self.errors[i] = f"{content['ename']}: {content['evalue']}"
        if kind in ("clear_output", "stream", "execute_result", "display_data", "error"):
            self._streaming = i if kind == "stream" else None


def _request(code: str) -> dict[str, Any]:
    return {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": True,
    }
