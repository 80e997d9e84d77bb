"""The survey gives a plausible machine, is made once, and mends itself when the cache is broken, old or another's."""

import json
from pathlib import Path

import pytest
import torch

from lockstep.cost.collectives import collective_time
from lockstep.errors import WorldUnavailable
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.machines import Cluster, Device, Link
from lockstep.this_machine import measure, survey

LINK = Link(5e-5, 1e-9, "Measured: for this test.")
MADE_UP = survey.Survey(
    Cluster("this machine", Device("core", {"float32": 1e9}, 1e9, 10**9, 1e-6), 1024, LINK, LINK),
    *("a processor", 2, 4, 10**9, {"L2": 2**20}, ["avx2"], []),
)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An own home; grows by one with each survey, which is made up."""
    calls: list[int] = []
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.setattr(survey, "measure", lambda: calls.append(1) or MADE_UP)
    return calls


def test_it_is_made_once_and_then_read(made: list[int], tmp_path: Path) -> None:
    told: list[str] = []
    assert [survey.full_survey(say=told.append) for _ in range(3)] == [MADE_UP] * 3
    assert len(made) == len(told) == 1
    assert "once" in told[0]
    assert [p.name for p in tmp_path.iterdir()] == ["survey.json"]
    assert survey.survey(refresh=True, say=told.append) == MADE_UP.cluster
    assert len(made) == 2


@pytest.mark.parametrize("broken", ["", "{", "[]", "null", '{"of": 1}', b"\xff\xfe\x00", "survey", "cluster", "flops"])
def test_a_broken_cache_is_measured_again(broken: str | bytes, made: list[int], tmp_path: Path) -> None:
    survey.survey(say=lambda _: None)
    path = tmp_path / "survey.json"
    if broken in ("survey", "cluster", "flops"):
        path.write_text(path.read_text().replace(f'"{broken}"', '"gone"'))
    else:
        path.write_bytes(broken if isinstance(broken, bytes) else broken.encode())
    assert survey.survey(say=lambda _: None) == MADE_UP.cluster
    assert len(made) == 2
    survey.survey(say=lambda _: None)
    assert len(made) == 2


@pytest.mark.parametrize("changed", ["torch", "machine", "cores", "memory", "format"])
def test_another_machine_is_measured_again(changed: str, made: list[int], tmp_path: Path) -> None:
    survey.survey(say=lambda _: None)
    path = tmp_path / "survey.json"
    data = json.loads(path.read_text())
    data["of"][changed] = "another"
    path.write_text(json.dumps(data))
    survey.survey(say=lambda _: None)
    assert len(made) == 2


def test_a_home_that_cannot_be_written_costs_a_sentence(made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", "/proc/nowhere")
    told: list[str] = []
    assert survey.survey(say=told.append) == MADE_UP.cluster
    assert "could not be kept in /proc/nowhere" in told[1]


def refuse(job: Job) -> None:
    raise WorldUnavailable("No process could be started.")


def test_without_two_ranks_there_are_typical_values_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "run_processes", refuse)
    link = survey.loopback()
    assert (link.alpha, link.beta) == survey.TYPICAL_LOOPBACK
    assert "typical values" in link.source
    assert "No process could be started." in link.source


def test_typical_values_are_tried_again_after_a_while(made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "run_processes", refuse)
    typical = Cluster("this machine", MADE_UP.cluster.device, 1024, survey.loopback(), survey.loopback())
    incomplete = survey.Survey(typical, *("a processor", 2, 4, 10**9, {}, [], []))
    monkeypatch.setattr(survey, "measure", lambda: made.append(1) or incomplete)
    told: list[str] = []
    assert survey.full_survey(say=told.append) == incomplete
    assert "typical values" in told[-1]
    survey.survey(say=told.append)
    assert len(made) == 1
    monkeypatch.setattr(survey, "RETRY", 0.0)
    survey.survey(say=told.append)
    assert len(made) == 2


@pytest.mark.slow
def test_this_machine_measured_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    threads = torch.get_num_threads()
    found = survey.full_survey(say=lambda _: None)
    assert torch.get_num_threads() == threads
    assert found.complete, found.cluster.inside.source
    device, link = found.cluster.device, found.cluster.link(0, 500)
    assert all(1e7 < rate < 1e14 for rate in device.flops.values())
    assert set(device.flops) == set(survey.DTYPES)
    assert device.flops["float32"] > device.flops["float64"]
    assert 1e8 < device.memory_bandwidth < 1e13
    assert 1e-8 < device.launch_overhead < 1e-3
    assert 0 <= link.alpha < 0.1
    assert 1e6 < link.bandwidth < 1e12
    assert found.cluster.cores == found.cores >= 1  # what all ranks share
    assert collective_time("all_reduce", 10**6, range(4), found.cluster) > 0
    assert survey.full_survey(say=pytest.fail) == found
    for word in ("cores", "GFLOP/s", "GB/s", "alpha", found.processor):
        assert word in str(found)


def test_ping_pong_sends_what_it_says() -> None:
    outcome = processes.run_processes(Job.pack(measure.ping_pong, (1000, 5), {}, ranks=3))
    assert outcome.values[0] > 0
    assert outcome.values[1] > 0
    assert outcome.values[2] == 0.0
    for rank in (0, 1):
        assert outcome.trace.sent(rank) == outcome.trace.received(rank) == (5, 5000)
    assert not outcome.trace.of_rank(2)


def test_best_time_takes_the_least_of_several() -> None:
    calls: list[int] = []
    assert measure.best_time(lambda: calls.append(1), seconds=0.0) > 0
    assert len(calls) == 4  # one to warm up, three that count
