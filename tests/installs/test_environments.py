"""Environments of TensorFlow and Lightning: made with a pip that only plays; and what is said where that fails."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from lockstep.cli import agreed, main, with_framework
from lockstep.errors import UsageError, WorldUnavailable
from lockstep.installs import environments
from lockstep.installs.frameworks import FRAMEWORKS, LIGHTNING, TENSORFLOW, Framework, framework

LIGHT = replace(LIGHTNING, loads="import sys")  # that loads without anything installed
PIP = """\
import sys
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
{plays}
"""
INSTALLS = (
    'print("Collecting lightning==2.6.6"); print("Collecting tqdm==4.70.1"); print("Installing collected packages: x")'
)
FAILS = 'print("ERROR: No matching distribution found for lightning==2.6.6"); sys.exit(1)'


class Played:
    """A pip that writes down what it is asked, and a folder for the environments."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.script, self.log, self.said = folder / "pip.py", folder / "pip.log", list[tuple[str, float]]()
        self.plays(INSTALLS)
        monkeypatch.setenv("LOCKSTEP_HOME", str(folder / "home"))
        monkeypatch.setattr(
            environments, "pip_for", lambda python, asked: [sys.executable, str(self.script), str(python), asked]
        )
        monkeypatch.setattr(with_framework, "framework", lambda name: replace(framework(name), loads="import sys"))

    def plays(self, code: str) -> None:
        self.script.write_text(PIP.format(log=str(self.log), plays=code))

    @property
    def asked(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def tell(self, what: str, done: float) -> None:
        self.said.append((what, done))


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(tmp_path, monkeypatch)


# ---- The data


@pytest.mark.parametrize("of", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_a_list_is_packages_and_versions_and_has_the_framework(of: Framework) -> None:
    lines = [line for line in of.listed.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert len(of.versions()) == len(lines)
    assert re.fullmatch(r"[\d.]+", of.version)
    assert of.command == f"lockstep with {of.name}"


def test_tensorflow_is_there_once_and_lightning_brings_no_torch() -> None:
    """tf_keras asks for the package ``tensorflow``, too: 600 MB for the same."""
    assert {"tensorflow-cpu", "tf_keras"} <= TENSORFLOW.versions().keys()
    assert "tensorflow" not in TENSORFLOW.versions()
    assert TENSORFLOW.versions()["tf_keras"].split(".")[:2] == TENSORFLOW.version.split(".")[:2]
    assert "torch" not in LIGHTNING.versions()


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(UsageError, match="There is: tensorflow, lightning"):
        framework("mxnet")


# ---- An environment


def test_it_is_made_once_and_is_there_at_once_the_second_time(played: Played) -> None:
    assert not environments.ready(LIGHT)
    made = environments.provide(LIGHT, played.tell)
    assert environments.ready(LIGHT)
    (asked,) = played.asked
    assert asked.startswith(f"{made}/bin/python install --no-deps --requirement {LIGHT.listed}")
    parts = [done for _, done in played.said]
    assert all(a <= b for a, b in pairwise(parts))
    assert "pip fetches lightning" in [what for what, _ in played.said]
    assert environments.provide(LIGHT, played.tell) == made
    assert len(played.asked) == 1


def test_it_shows_the_torch_that_is_here_and_another_ones_shows_nothing(played: Played) -> None:
    found = "import importlib.util as u; print(u.find_spec('torch') is not None, u.find_spec('pip') is not None)"
    for of, told in ((LIGHT, "True True"), (replace(TENSORFLOW, loads="import sys"), "False False")):
        environments.provide(of, played.tell)
        python = environments.require(of)
        said = subprocess.run(
            [python, "-c", found], capture_output=True, text=True, check=True, env=environments.surroundings()
        )
        assert said.stdout.strip() == told, of.name


def test_for_another_torch_it_is_made_anew(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    environments.provide(LIGHT, played.tell)
    monkeypatch.setattr(environments.importlib.metadata, "version", lambda package: "2.15.0")
    assert not environments.ready(LIGHT)
    environments.provide(LIGHT, played.tell)
    assert environments.ready(LIGHT)
    assert len(played.asked) == 2


def test_what_a_killed_process_has_left_is_thrown_away(played: Played) -> None:
    left = environments.folder(LIGHT) / "lib" / "half"
    left.mkdir(parents=True)
    assert not environments.ready(LIGHT)
    environments.provide(LIGHT, played.tell)
    assert not left.exists()


def test_a_failure_is_one_sentence_and_leaves_only_its_log(played: Played) -> None:
    played.plays(FAILS)
    with pytest.raises(WorldUnavailable, match="could not be installed: No matching distribution found") as raised:
        environments.provide(LIGHT, played.tell)
    log = environments.root() / environments.LOG
    assert str(log) in str(raised.value)
    assert "lockstep with lightning" in str(raised.value)
    assert sorted(p.name for p in environments.root().iterdir()) == [environments.LOG, "lock"]
    played.plays(INSTALLS)
    environments.provide(LIGHT, played.tell)
    assert not log.exists()


def test_one_that_does_not_load_is_not_kept(played: Played) -> None:
    with pytest.raises(WorldUnavailable, match=r"does not load: ModuleNotFoundError: No module named 'nothing'"):
        environments.provide(replace(LIGHT, loads="import nothing"), played.tell)
    assert not environments.folder(LIGHT).exists()


def test_ctrl_c_leaves_nothing(played: Played) -> None:
    def stop(what: str, done: float) -> None:
        if "fetches" in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        environments.provide(LIGHT, stop)
    assert [p.name for p in environments.root().iterdir()] == ["lock"]


def test_a_program_there_knows_of_no_launcher_and_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a job of Slurm's, Lightning would ask Slurm who its ranks are."""
    for name in ("SLURM_NTASKS", "RANK", "WORLD_SIZE", "http_proxy", "PYTHONPATH", "TF_CONFIG"):
        monkeypatch.setenv(name, "1")
    around = environments.surroundings()
    assert around.keys().isdisjoint({"SLURM_NTASKS", "RANK", "WORLD_SIZE", "http_proxy", "PYTHONPATH", "TF_CONFIG"})
    assert around["TF_USE_LEGACY_KERAS"] == "1"


def test_where_it_is_missing_the_command_and_its_size_are_said(played: Played) -> None:
    with pytest.raises(WorldUnavailable, match="TensorFlow is not set up here") as raised:
        environments.require(TENSORFLOW)
    assert "`lockstep with tensorflow` does that: 340 MB to download, 1,550 MB on the disk" in str(raised.value)


# ---- The command


def test_the_command_asks(played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(agreed.sys, "stdin", type("Terminal", (io.StringIO,), {"isatty": lambda self: True})())
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    assert main(["with", "lightning"]) == 0
    assert "6 MB to download" in asked[0]
    assert capsys.readouterr().out == "Nothing was installed.\n"
    monkeypatch.setattr("builtins.input", lambda question: "")
    assert main(["with", "lightning"]) == 0
    there = f"Lightning {LIGHTNING.version} is installed in {environments.folder(LIGHTNING)}.\n"
    assert capsys.readouterr().out.endswith(there)
    assert main(["with", "lightning"]) == 0
    assert capsys.readouterr().out == there
    assert len(played.asked) == 1


def test_nobody_to_ask(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["with", "tensorflow"]) == 2
    assert "Say `lockstep with tensorflow --yes`." in capsys.readouterr().err
    assert played.asked == []
    assert main(["with", "tensorflow", "--yes"]) == 0
    assert capsys.readouterr().out.startswith(f"TensorFlow {TENSORFLOW.version} gets an environment of its own: 340 MB")


def test_3_when_it_cannot_be_had(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    played.plays(FAILS)
    assert main(["with", "lightning", "--yes"]) == 3
    assert "lockstep: Lightning 2.6.6 could not be installed: No matching" in capsys.readouterr().err
    assert main(["with", "mxnet", "--yes"]) == 2
