"""Which memory is collapsed, and that nothing in it changes."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstep.forking import forkserver, hugepages
from lockstep.forking.fork_request import Request
from lockstep.forking.forkserver import Server
from lockstep.forking.hugepages import HUGE, collapse, regions
from lockstep.forking.starter import memory

WORKER, SANDBOX = "lockstep.launch.rank_process:main", "lockstep.grading.sandbox_worker:main"
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


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, list[int]]]:
    """A server, and the huge pages that it has made."""
    made: list[int] = []

    def three() -> Iterator[int]:
        for page in range(3):
            made.append(page)
            yield HUGE

    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = Server(ends[0], os.getpid())
    monkeypatch.setattr(hugepages, "collapsing", three)
    for entry in (WORKER, SANDBOX):
        importlib.import_module(entry.split(":")[0])
    yield server, made
    for end in (*ends, server._woken, server._wake):
        end.close()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def asked(server: Server, entry: str, size: int) -> None:
    server._begin(Request(entry, 0, size), memory(b'{"env": "{}"}'))


def test_they_are_made_for_many_forks_and_no_run_waits_for_more_than_one(server) -> None:
    """They were made all at once, before the eleventh run of four ranks: it took half a second more."""
    one, made = server
    for size, begun in [(8, False), (forkserver.WORTH - 8, False), (1, True)]:
        asked(one, WORKER, size)
        assert (one._collapsing is not None, made) == (begun, []), size
    one._reports[-1] = -1  # ranks run
    assert one._patience() == forkserver.SLOWLY
    one._reports.clear()
    assert one._patience() == 0
    for page in range(3):
        one._tend()
        assert made == list(range(page + 1))
    one._tend()
    assert one._collapsing is None
    asked(one, WORKER, 8)
    assert one._collapsing is None, "it has them already"


def test_one_child_of_which_many_will_come_is_forked_with_all_of_them(server) -> None:
    """A sandbox is one fork of a judge's server, and everything in it is a fork of that one: each copied the table of
    55,000 small pages."""
    one, made = server
    asked(one, SANDBOX, 1)
    assert (one._collapsing, made) == (None, [0, 1, 2])
