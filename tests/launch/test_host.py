"""Cores and memory are what the control groups leave us, in both of their versions, and not the host's."""

import os
import subprocess
from pathlib import Path

import psutil
import pytest

from lockstep.this_machine import host


def machine(folder: Path, membership: str, files: dict[str, str]) -> tuple[Path, Path]:
    """A folder of control groups and the file that says in which of them we are."""
    for name, text in files.items():
        (folder / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup" / name).write_text(text + "\n")
    (folder / "membership").write_text(membership)
    return folder / "cgroup", folder / "membership"


QUOTAS = {
    "v2 in a container": ("0::/\n", {"cpu.max": "150000 100000"}, 1.5),
    "v2 without a limit": ("0::/\n", {"cpu.max": "max 100000"}, None),
    "v2, a parent is stricter": (
        "0::/user/mine\n",
        {"user/mine/cpu.max": "400000 100000", "user/cpu.max": "200000 100000"},
        2.0,
    ),
    "v2, our folder is the host's and not here": ("0::/docker/abc\n", {"cpu.max": "300000 100000"}, 3.0),
    "v1": ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "250000", "cpu/cpu.cfs_period_us": "100000"}, 2.5),
    "v1, two controllers in one folder": (
        "4:cpu,cpuacct:/docker/abc\n",
        {"cpu,cpuacct/cpu.cfs_quota_us": "100000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
        1.0,
    ),
    "v1, two controllers, one link": (
        "4:cpuacct,cpu:/\n",
        {"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "50000"},
        2.0,
    ),
    "v1 without a limit": ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
    "nonsense in the file": ("0::/\n", {"cpu.max": "a lot"}, None),
    "no control groups at all": ("", {"empty": ""}, None),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_the_quota_of_the_control_group(name: str, tmp_path: Path) -> None:
    membership, files, quota = QUOTAS[name]
    assert host.cores(*machine(tmp_path, membership, files)).quota == quota


def test_usable_cores_are_whole_and_at_least_one() -> None:
    assert host.Cores(host=64, affinity=64, quota=2.5).usable == 2
    assert host.Cores(host=64, affinity=64, quota=0.5).usable == 1
    assert host.Cores(host=64, affinity=3, quota=None).usable == 3
    assert host.Cores(host=64, affinity=3, quota=8.0).usable == 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_the_affinity_mask_counts() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert host.cores().affinity == host.cores().usable == 1
    finally:
        os.sched_setaffinity(0, before)


LIMITS = {
    "v2": ("0::/\n", {"memory.max": "1000000"}, 1_000_000),
    "v2, a parent is stricter": ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": "2000000"}, 2_000_000),
    "v2 without a limit": ("0::/\n", {"memory.max": "max"}, None),
    "v1": ("4:memory:/docker/abc\n", {"memory/memory.limit_in_bytes": "3000000"}, 3_000_000),
    "v1 without a limit": ("4:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_memory_of_the_control_group(name: str, tmp_path: Path) -> None:
    membership, files, limit = LIMITS[name]
    assert host.memory(*machine(tmp_path, membership, files)) == (limit or psutil.virtual_memory().total)


def test_caches_as_linux_lists_them(tmp_path: Path) -> None:
    for index, (level, kind, size) in enumerate(
        [("1", "Data", "32K"), ("1", "Instruction", "48K"), ("3", "Unified", "32M")]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(text + "\n")
    assert host.caches(tmp_path) == {"L1d": 32 * 2**10, "L1i": 48 * 2**10, "L3": 32 * 2**20}


@pytest.mark.parametrize(
    ("text", "sets", "model"),
    [
        ("model name\t: Xeon X\nflags\t\t: fpu sse4_2 avx2 avx512f\n", ["sse4_2", "avx2", "avx512f"], "Xeon X"),
        ("Features\t: fp asimd sve bf16\n", ["asimd", "sve", "bf16"], None),
    ],
)
def test_instruction_sets_and_model(text: str, sets: list[str], model: str | None, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    assert host.simd(tmp_path / "cpuinfo") == sets
    assert model is None or host.processor(tmp_path / "cpuinfo") == model


def test_gpus_are_those_that_nvidia_smi_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771 MiB'\necho 'NVIDIA H200, 143771 MiB'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert host.gpus() == ["NVIDIA H200, 143771 MiB"] * 2
    program.write_text("#!/bin/sh\necho 'no devices were found'\nexit 6\n")
    assert host.gpus() == []


def test_no_gpus_where_there_is_no_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert host.gpus() == []


def test_a_program_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*args: object, **kwargs: object) -> None:
        raise subprocess.TimeoutExpired("nvidia-smi", 10)

    monkeypatch.setattr(subprocess, "run", hang)
    assert host.gpus() == []


def test_this_machine_has_what_every_machine_has() -> None:
    found = host.cores()
    assert 1 <= found.usable <= found.affinity <= found.host
    assert 10**8 < host.memory() <= psutil.virtual_memory().total
    assert host.processor()
