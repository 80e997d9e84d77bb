"""The layout of a machine is read from its files; a machine that tells nothing is no error."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from lockstep.this_machine.hardware import Hardware, bandwidth_of_all, hardware, numa, sharing


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Two sockets of 16 cores with two threads each, an L3 for 8 cores."""
    cache = "cpu/cpu0/cache"
    return write(tmp_path, {
        "cpu/cpu0/topology/thread_siblings_list": "0,32",
        f"{cache}/index0/level": "1", f"{cache}/index0/type": "Data", f"{cache}/index0/shared_cpu_list": "0,32",
        f"{cache}/index1/level": "1", f"{cache}/index1/type": "Instruction", f"{cache}/index1/shared_cpu_list": "0,32",
        f"{cache}/index3/level": "3", f"{cache}/index3/type": "Unified", f"{cache}/index3/shared_cpu_list": "0-7,32-39",
        "node/node0/cpulist": "0-15,32-47", "node/node1/cpulist": "16-31,48-63", "node/node2/cpulist": "",
        "node/has_cpu": "0-1",
    })  # fmt: skip


def test_a_server_of_two_sockets(server: Path) -> None:
    found = hardware(["sse4_2", "avx2", "fma", "avx512f"], threads=1, memory=2**26, system=server)
    assert found.threads_per_core == 2
    assert found.numa == [32, 32]
    assert found.shared == {"L1d": 1, "L1i": 1, "L3": 8}  # in cores
    assert (found.simd_bits, found.simd_lanes) == (512, 16)
    assert str(found) == "2 NUMA nodes; 2 hardware threads a core; shared: L3 by 8"


def test_processors_are_counted_and_cores_are_half_of_them(server: Path) -> None:
    assert sharing(server)["L3"] == 16
    assert numa(server) == [32, 32]


def test_a_system_that_tells_nothing(tmp_path: Path) -> None:
    found = hardware([], threads=1, memory=2**26, system=tmp_path)
    assert (found.threads_per_core, found.numa, found.shared, found.simd_lanes) == (1, [], {}, 0)


def test_files_that_make_no_sense(tmp_path: Path) -> None:
    folder = write(tmp_path, {"node/node0/cpulist": "\x00?", "cpu/cpu0/topology/thread_siblings_list": "nonsense"})
    assert numa(folder) == []
    assert hardware(["sve"], 1, 2**26, folder).threads_per_core == 1


def test_the_bandwidth_is_measured_and_the_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    assert 1e8 < bandwidth_of_all(threads=2, memory=2**28, seconds=0.05) < 1e13
    assert torch.get_num_threads() == before


def test_it_can_be_kept_as_json() -> None:
    found = hardware(["avx2"], threads=1, memory=2**26)
    assert Hardware(**json.loads(json.dumps(asdict(found)))) == found
