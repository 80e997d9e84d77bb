"""Each fault is found where it is made, and comes with a line of advice; a sound machine gets none."""

import json
import os
import socket
import tomllib
from collections import namedtuple
from pathlib import Path

import pytest

from lockstep.errors import WorldUnavailable
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.this_machine import doctor
from lockstep.this_machine.doctor import Finding
from lockstep.this_machine.host import Cores

GB = 10**9


def wrong(finding: Finding, *words: str) -> None:
    assert not finding.ok
    assert len(finding.advice) > 20
    for word in words:
        assert word in f"{finding.value} {finding.advice}"


def test_this_machine_can_run_the_course() -> None:
    findings = doctor.examine()
    assert [f.name for f in findings] == list(doctor.CHECKS)
    needed = {"Python", "torch", "numpy", "loopback", "ranks"}
    assert not [f for f in findings if f.name in needed and not f.ok]


def test_two_ranks_are_really_started() -> None:
    finding = doctor.ranks()
    assert finding.ok, finding
    assert "two ranks started and all-reduced" in finding.value


def test_ranks_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: Job) -> None:
        raise WorldUnavailable("The process that starts ranks did not come up: no memory")

    monkeypatch.setattr(processes, "run_processes", refuse)
    wrong(doctor.ranks(), "did not come up: no memory", "loopback")


def test_a_torch_without_gloo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.dist, "is_gloo_available", lambda: False)
    wrong(doctor.ranks(), "no gloo")


@pytest.mark.parametrize(("version", "ok"), [((3, 10, 14), False), ((3, 11, 0), True), ((3, 14, 1), True)])
def test_python(version: tuple[int, ...], ok: bool) -> None:
    assert doctor.python(version).ok == ok
    assert doctor.python(version).value == ".".join(map(str, version))


@pytest.mark.parametrize(
    ("name", "version", "ok"),
    [
        ("torch", "2.13.0+cpu", True),
        ("torch", "2.15.1", True),
        ("torch", "2.16.0", False),
        ("torch", "2.12.9", False),
        ("torch", "2.9.0", False),
        ("nbgrader", "0.9.5", True),
        ("nbgrader", "0.9.4", False),
        ("nbgrader", "0.10.0", True),
        ("numpy", "1.26.4", False),
        ("jupyterlab", "", False),
    ],
)
def test_versions(name: str, version: str, ok: bool) -> None:
    finding = doctor.package(name, version)
    assert finding.ok == ok
    assert ok or "pip install" in finding.advice


def test_the_versions_are_those_of_pyproject() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for name, (least, below) in doctor.VERSIONS.items():
        course = name in doctor.OF_THE_COURSE
        listed = project["optional-dependencies"]["course"] if course else project["dependencies"]
        assert f"{name}>={least}" + (f",<{below}" if below else "") in listed


@pytest.mark.parametrize("name", doctor.OF_THE_COURSE)
def test_who_only_runs_programs_is_not_told_that_jupyter_is_a_fault(name: str) -> None:
    missing = doctor.package(name, "")
    assert (missing.ok, missing.optional) == (False, True)
    assert "pip install 'lockstep-lab[course]'" in missing.advice
    assert not doctor.package(name, "0.1").optional


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.VERSIONS, "surely-not-installed", ("1.0", ""))
    wrong(doctor.package("surely-not-installed"), "not installed", "surely-not-installed>=1.0")


def test_cores_are_those_of_the_control_group() -> None:
    wrong(doctor.cores(Cores(host=64, affinity=64, quota=1.5)), "1 usable of 64 (control group 1.5)")
    assert doctor.cores(Cores(host=64, affinity=4, quota=None)).value == "4 usable of 64 (affinity 4)"
    assert doctor.cores(Cores(host=2, affinity=2, quota=None)).ok


def test_memory() -> None:
    assert doctor.memory(8 * GB, 6 * GB).ok
    wrong(doctor.memory(2 * GB, 20 * GB), "2.0 GB, 2.0 GB free")
    wrong(doctor.memory(64 * GB, GB), "1.0 GB free")


def test_gpus_are_never_needed_but_must_work_if_they_are_there() -> None:
    assert doctor.gpus([], cuda=False, nccl=False).ok
    assert doctor.gpus(["H200, 141 GB"], cuda=True, nccl=True).ok
    wrong(doctor.gpus(["H200, 141 GB"], cuda=False, nccl=False), "CUDA does not work", "pytorch.org")
    wrong(doctor.gpus(["H200, 141 GB"], cuda=True, nccl=False), "NCCL is missing")


def test_shared_memory_as_docker_gives_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage(64 * 2**20, 2**20, 63 * 2**20))
    wrong(doctor.shared_memory(tmp_path), "64 MiB", "63 MiB free", "--shm-size")


def test_shared_memory_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.platform, "system", lambda: "Linux")
    wrong(doctor.shared_memory(tmp_path / "none"), "is not there")
    monkeypatch.setattr(doctor.platform, "system", lambda: "Darwin")
    assert doctor.shared_memory(tmp_path / "none").ok


def test_loopback_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.loopback().ok

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", refuse)
    wrong(doctor.loopback(), "Network is unreachable", "ip link set lo up")


def test_an_unresolvable_hostname(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.hostname("localhost").ok

    def unknown(*args: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    wrong(doctor.hostname("my-box"), "'my-box' does not resolve", "127.0.1.1 my-box", "/etc/hosts")


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    assert doctor.home_folder(tmp_path).ok
    assert not list(tmp_path.iterdir())
    wrong(doctor.home_folder(tmp_path / "none"), "No such file", "LOCKSTEP_HOME")


def test_a_full_disk(tmp_path: Path) -> None:
    assert doctor.disk(tmp_path, least=0).ok
    wrong(doctor.disk(tmp_path, least=2**62), "GB free", "TMPDIR")


def test_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    wrong(doctor.compiler(("g++", "clang++")), "not found", "apt install g++ make")
    (tmp_path / "clang++").write_text("#!/bin/sh\n")
    os.chmod(tmp_path / "clang++", 0o755)
    assert doctor.compiler(("g++", "clang++")).value == str(tmp_path / "clang++")


def test_a_check_that_fails_is_a_finding_and_the_others_go_on() -> None:
    def fail() -> Finding:
        raise RuntimeError("no such luck")

    first, second = doctor.examine({"a": fail, "b": doctor.python})
    assert first == Finding("a", False, "could not be examined: RuntimeError: no such luck", "Please report this.")
    assert second.ok


def test_the_table_gives_advice_only_where_something_is_wrong() -> None:
    good = Finding("cores", True, "2 usable of 2", "never shown")
    bad = Finding("hostname", False, "'x' does not resolve", "Mend it.")
    lacking = Finding("g++", False, "not found", "Install it.", optional=True)
    assert doctor.table([good, bad, lacking]).splitlines() == [
        "ok    cores          2 usable of 2",
        "FAIL  hostname       'x' does not resolve",
        "                     Mend it.",
        "note  g++            not found",
        "                     Install it.",
    ]
    data = json.loads(json.dumps(doctor.to_json([good, bad])))
    assert data[0] == {"name": "cores", "ok": True, "value": "2 usable of 2", "advice": "", "optional": False}
    assert data[1]["advice"] == "Mend it."
