"""240 fuzzed files, by the same seed each time: no hang, no traceback, and nobody else loses a point.

The same as a command, which names each file that it makes: ``python tests/hostile/fuzz.py --help``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

import pytest
from fuzz import INPUTS, Fuzz, fuzzed
from fuzz_mutants import of_bytes, of_json, of_python
from fuzz_runs import Commands, Ended

from lockstep.errors import WorldUnavailable
from lockstep.grading.sandbox_check import kind_of_sandbox

pytestmark = [pytest.mark.xdist_group("fuzzed"), pytest.mark.timeout(3000)]


@pytest.fixture
def fuzz(tmp_path: Path):
    try:
        kind_of_sandbox()
    except WorldUnavailable as error:
        pytest.skip(str(error))
    fuzz = Fuzz(tmp_path, seed=0)
    yield fuzz
    fuzz.commands.close()


@pytest.mark.slow
def test_240_fuzzed_files_are_told_in_words(fuzz):
    faults = list(fuzzed(fuzz, 240))
    assert not faults, "\n\n".join(map(str, faults))


def test_an_answer_a_notebook_and_a_gradebook_that_are_fuzzed_are_told_in_words(fuzz):
    """One of each kind, so that it is cheap: the rest is slow."""
    faults = [*fuzz.answer(0), *fuzz.notebooks([0, 1]), *fuzz.input(0)]
    assert not faults, "\n\n".join(map(str, faults))


def test_the_same_seed_makes_the_same_files_and_another_one_others():
    def made(seed: int) -> list[bytes]:
        draw = Random(seed)
        notebook = {"cells": [{"source": "x = 1", "metadata": {}}] * 3, "nbformat": 4}
        text = "def f(x):\n    y = x\n    return y\n"
        several = (of_bytes(b"abc" * 99, draw), of_python(text, draw), of_json(json.loads(json.dumps(notebook)), draw))
        return [*several, draw.choice(INPUTS).__name__.encode()]

    files = [made(seed) for seed in range(60)]
    assert files == [made(seed) for seed in range(60)]
    assert len({file for made_now in files for file in made_now[:3]}) > 150


@pytest.mark.parametrize(
    ("ended", "fault"),
    [
        (Ended(0, "Right."), ""),
        (Ended(0, "  \n"), "nothing is said"),
        (Ended(1, "lockstep: no"), ""),
        (Ended(1, "a\nTraceback (most recent call last)\n"), "a traceback"),
        (Ended(1, "", "Traceback of ours"), "a traceback"),
        (Ended(120, "said"), "exit code 120"),
        (Ended(None, "", "a hang"), "a hang"),
    ],
)
def test_what_counts_as_a_fault(ended, fault):
    assert ended.fault() == fault


def test_a_command_that_hangs_or_dies_is_seen_and_the_next_one_runs(tmp_path, monkeypatch):
    """Who looks for hangs must not hang."""
    (tmp_path / "tmp").mkdir()
    commands = Commands({"TMPDIR": str(tmp_path / "tmp")})
    monkeypatch.setattr("lockstep.cli.main", _stand_in)
    assert commands.run(["hang"], tmp_path, 1.0).escaped == "a hang"
    assert commands.run(["die"], tmp_path).escaped == "its process ended, with 7"
    assert commands.run(["raise"], tmp_path).fault() == "a traceback"
    ended = commands.run(["say"], tmp_path)
    assert (ended.code, ended.said, ended.fault()) == (0, f"said in {tmp_path}\n", "")
    commands.close()


def _stand_in(arguments: list[str]) -> int:
    import os
    import time

    match arguments[0]:
        case "hang":
            time.sleep(600)
        case "die":
            os._exit(7)
        case "raise":
            raise ValueError("of ours")
    print(f"said in {os.getcwd()}", file=sys.stdout, flush=True)
    return 0
