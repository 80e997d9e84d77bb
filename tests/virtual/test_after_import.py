"""A module that few programs import is changed when one does, and is not imported for that."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from lockstep.virtual.after_import import after_import


@pytest.fixture
def rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "rare_module.py").write_text("answer = 41\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.delitem(sys.modules, "rare_module", raising=False)
    return "rare_module"


def add_one(module) -> None:
    module.answer += 1


def test_a_module_is_changed_as_soon_as_it_is_imported(rare: str) -> None:
    after_import(rare, add_one)
    assert rare not in sys.modules
    assert importlib.import_module(rare).answer == 42
    assert importlib.import_module(rare).answer == 42, "only once"


def test_one_that_is_loaded_is_changed_now(rare: str) -> None:
    module = importlib.import_module(rare)
    after_import(rare, add_one)
    assert module.answer == 42


def test_each_of_two_that_wait_for_one_module_acts(rare: str) -> None:
    after_import(rare, add_one)
    after_import(rare, add_one)
    assert importlib.import_module(rare).answer == 43


def test_a_module_that_is_not_there_is_missing_as_ever(rare: str) -> None:
    after_import("nowhere_at_all", add_one)
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        importlib.import_module("nowhere_at_all")
