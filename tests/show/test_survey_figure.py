"""The drawing shows what the survey found: no more cores, caches or GPUs, and no fewer."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lockstep.cli import doctor as command
from lockstep.machines import find
from lockstep.show import survey
from lockstep.show.quantities import seconds
from lockstep.this_machine.hardware import Hardware
from lockstep.this_machine.survey import Survey

CACHES = {"L1d": 48 * 1024, "L1i": 32 * 1024, "L2": 2**20, "L3": 16 * 2**20}
LAYOUT = Hardware(1, [2], {"L1d": 1, "L2": 1, "L3": 2}, 256, 20e9)
LAPTOP = Survey(find("laptop"), "A processor", 2, 2, 16 * 10**9, CACHES, ["avx2"], [], LAYOUT)
SERVER = replace(
    LAPTOP, cores=64, host_cores=128, gpus=["NVIDIA H200, 143771 MiB"] * 8,
    hardware=Hardware(2, [64, 64], {"L1d": 1, "L2": 1, "L3": 8}, 512, 160e9),
)  # fmt: skip
BARE = replace(LAPTOP, processor="", caches={}, simd=[], hardware=Hardware())


def texts(machine: Survey) -> list[str]:
    root = ElementTree.fromstring(survey(machine).svg())
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_two_cores_with_their_caches_and_lanes() -> None:
    told = texts(LAPTOP)
    assert [t for t in told if t.startswith("core ")] == ["core 0", "core 1"]
    assert told.count("L1d 48 KiB") == told.count("L2 1 MiB") == 2
    assert told.count("L3 16 MiB, one for 2 cores") == 1
    assert told.count("8 at once") == 2
    assert "no GPU here" in told


def test_a_server_is_drawn_in_part_and_says_so() -> None:
    told = texts(SERVER)
    assert [t for t in told if t.startswith("core ")] == ["core 0", "core 63"]
    assert "… 62 more like these …" in told
    assert "8 × NVIDIA H200" in told
    assert "64 of 128 cores are ours" in " ".join(told)
    assert "2 memory regions (NUMA)" in " ".join(told)
    assert "160 GB a second" in told


def test_a_system_that_tells_nothing_is_drawn_too() -> None:
    told = texts(BARE)
    assert "This system does not tell its caches." in told
    assert "SIMD width unknown" in told
    assert "This machine" in told


@pytest.mark.parametrize("machine", [LAPTOP, SERVER, BARE, replace(LAPTOP, cores=1, host_cores=1)])
def test_it_stays_within_its_frame_and_says_itself(machine: Survey) -> None:
    picture = survey(machine)
    root = ElementTree.fromstring(picture.svg())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x", 0)) + float(box.get("width", 0)) <= width
        assert float(box.get("y", 0)) + float(box.get("height", 0)) <= height
    assert "to a process" in picture.caption()
    assert seconds(machine.cluster.inside.alpha) not in picture.caption(), "unit 04 asks for it first"
    assert picture._repr_mimebundle_()["image/svg+xml"] == picture.svg()


def test_the_doctor_leaves_the_drawing_beside_the_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.setattr(command, "full_survey", lambda refresh, say: LAPTOP)
    monkeypatch.setattr(command.examination, "examine", list)
    assert command.doctor(Namespace(survey=True, json=False)) == 0
    assert f"{tmp_path / 'survey.svg'}" in capsys.readouterr().out
    assert (tmp_path / "survey.svg").read_text() == survey(LAPTOP).svg()
    monkeypatch.setenv("LOCKSTEP_HOME", "/proc/nowhere")
    assert command.doctor(Namespace(survey=True, json=False)) == 0
    assert "drawn" not in capsys.readouterr().out
