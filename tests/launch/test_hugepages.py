"""Which memory is collapsed, and that nothing in it changes."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from lockstep.forking import forkserver, hugepages
from lockstep.forking.forkserver import Server
from lockstep.forking.hugepages import HUGE, collapse, regions
from lockstep.forking.request import Request
from lockstep.forking.starter import memory

MAPS = """\
000000200000-000000a00000 rw-p 00000000 00:00 0                          [heap]
000000b00000-000001000000 rw-p 00000000 00:00 0
000001100000-000001200000 rw-p 00000000 00:00 0
000002000000-000004000000 r--p 00000000 00:00 0
000004000000-000006000000 rw-s 00000000 00:01 17                         /memfd:log (deleted)
000006000000-000008000000 rw-p 00000000 fe:00 42                         /usr/lib/libtorch.so
000008000000-00000a000000 rw-p 00000000 00:00 0                          [stack]
"""


def test_private_memory_without_a_file_is_cut_to_whole_pages() -> None:
    assert list(regions(MAPS)) == [(0x200000, 4 * HUGE), (0xC00000, 2 * HUGE)]


def test_without_maps_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert collapse(tmp_path / "none") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are a matter of Linux")
def test_the_contents_stay() -> None:
    data = bytearray(range(256)) * (5 * HUGE // 256)
    collapse()
    assert bytes(data) == bytes(range(256)) * (5 * HUGE // 256)


def test_they_are_made_for_many_forks_and_for_one_of_which_many_will_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox is one fork of a judge's server, and everything in it is a fork of that one: each copied the table of
    55,000 small pages."""
    made: list[str] = []
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = Server(ends[0], os.getpid())
    monkeypatch.setattr(hugepages, "collapse", lambda: made.append("huge"))
    worker, sandbox = "lockstep.launch.rank_process:main", "lockstep.grading.inside:main"
    for module in (worker, sandbox):
        importlib.import_module(module.split(":")[0])
    for entry, size, since in [(worker, 8, 0), (worker, forkserver.WORTH - 8, 0), (worker, 1, 1), (worker, 8, 1)]:
        server._begin(Request(entry, 0, size), memory(b'{"env": "{}"}'))
        assert len(made) == since, (entry, size)
    server._forks = 0
    server._begin(Request(sandbox, 0, 1), memory(b'{"env": "{}"}'))
    assert len(made) == 2
    for end in (*ends, server._woken, server._wake):
        end.close()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
