"""Which memory is collapsed, and that nothing in it changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lockstep.launch.hugepages import HUGE, collapse, regions

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
