"""A notebook that somebody copied before modules moved imports what it did."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

from lockstep.distribution import VERSION
from lockstep.moved import MOVED, Finder, now

PACKAGE = Path(__file__).parents[1] / "pkg" / "lockstep"
IMPORTS = (Path(__file__).parent / "imports_of_0_1.txt").read_text().splitlines()  # of all notebooks of version 0.1
pytestmark = pytest.mark.reads("pkg/")


def file_of(module: str) -> Path:
    return PACKAGE.joinpath(*module.split(".")).with_suffix(".py")


@pytest.mark.parametrize("line", IMPORTS)
def test_an_import_of_an_older_notebook_works(line: str) -> None:
    exec(line, {})


@pytest.mark.sampled(12)
@pytest.mark.parametrize("old", MOVED)
def test_the_old_name_is_the_module_itself(old: str) -> None:
    found = importlib.import_module(f"lockstep.{old}")
    assert found is importlib.import_module(f"lockstep.{MOVED[old]}")
    assert found.__name__ == found.__spec__.name == f"lockstep.{MOVED[old]}"
    parent, _, name = f"lockstep.{old}".rpartition(".")
    assert getattr(sys.modules[parent], name) is found


def test_whoever_moved_is_gone_and_has_arrived() -> None:
    assert not [old for old in MOVED if file_of(old).exists()]
    assert not [new for new in MOVED.values() if not file_of(new).exists()]


def test_a_name_in_a_module_has_moved_with_it() -> None:
    assert now("tensor_parallel.regions.regions") == "tensor_parallel.f_and_g.regions"
    assert now("tensor_parallel.regions") == "tensor_parallel.f_and_g"
    assert now("models.GPT") == "models.GPT"
    assert now("models") == "models"


def test_what_never_was_is_not_found() -> None:
    assert Finder.find_spec("lockstep.pipeline.never") is None
    assert Finder.find_spec("numpy") is None
    with pytest.raises(ModuleNotFoundError, match=re.escape("lockstep.pipeline.never")):
        importlib.import_module("lockstep.pipeline.never")


def test_the_table_goes_after_a_version() -> None:
    assert tuple(map(int, VERSION.split(".")[:2])) < (0, 3), "take lockstep/moved.py and this test away"
