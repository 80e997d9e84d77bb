"""A long loop says how far it is, in one line; a short one says nothing."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from kernels import settings
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from lockstep import tally
from lockstep.tally import counted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal, and a clock that goes on by 5 s from one look to the next."""
    stream, seconds = Terminal(), iter(range(0, 10_000, 5))
    monkeypatch.setattr(tally, "sys", SimpleNamespace(stderr=stream, modules={}))
    monkeypatch.setattr(tally, "monotonic", lambda: float(next(seconds)))
    return stream


def said(terminal: Terminal) -> list[str]:
    return [text.rstrip("\n") for text in terminal.getvalue().split("\r\033[K")[1:]]


def test_a_long_loop_says_how_far_it_is_and_what_is_left(terminal: Terminal) -> None:
    assert list(counted("abc", "Measuring", each=4.0)) == ["a", "b", "c"]
    assert said(terminal) == [
        "Measuring: 1 of 3, about 12 s more …",
        "Measuring: 2 of 3, about 20 s more …",
        "Measuring: 3 of 3, about 8 s more …",
        "Measuring: 3 of 3 in 20 s.",
    ]
    assert terminal.getvalue().count("\n") == 1


def test_a_loop_that_is_left_says_how_far_it_came(terminal: Terminal) -> None:
    for item in counted(range(1000)):
        if item == 1:
            break
    assert said(terminal)[-1] == "1 of 1000 in 15 s."
    assert said(terminal)[:2] == ["1 of 1000 …", "2 of 1000, about 166 minutes more …"]


def test_a_short_loop_and_a_pipe_say_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(counted(range(3), each=100.0)) == [0, 1, 2]
    stream = Terminal()
    monkeypatch.setattr(tally, "sys", SimpleNamespace(stderr=stream, modules={}))
    assert list(counted(range(3))) == [0, 1, 2]
    assert stream.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_in_a_notebook_one_line_stays() -> None:
    source = "from lockstep.tally import counted\nfor i in counted(range(3), 'Waiting', each=9.0):\n    pass"
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook, timeout=60, config=settings()).execute()
    (output,) = notebook.cells[0].outputs
    assert output.data["text/plain"] == "Waiting: 3 of 3 in 1 s."
