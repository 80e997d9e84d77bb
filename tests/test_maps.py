"""The textbook stands alone in its folders: each has a map of its files, and none is there for a lesson's cell or a
check only. The glossary has the lessons' own terms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_layers import imports, modules, named, source_of

from lockstep.checks import exercises
from lockstep.grading.glossary import LINE, Place, page, places, techniques

ROOT = Path(__file__).parents[1]
FOLDERS = {folder.name: told for folder, told in techniques(ROOT)}
PLACES = list(places(ROOT))
BESIDE = ("data", "__pycache__")
ENGINE = (
    "virtual",
    "scripts",
    "chrome_traces",
    "comm",
    "record",
    "launch",
    "launchers",
    "forking",
    "this_machine",
    "installs",
    "residency",
    "dye",
    "planner",
)
ONLY_IN_A_LESSON = {  # algorithms that no exercise's answer needs: they belong to the textbook
    "bottlenecks.corruption": "a checksum of each replica",
    "bottlenecks.failures": "goodput, failure by failure",
    "bottlenecks.light_work": "light work",
    "bottlenecks.loops": "all sick loops",
    "bottlenecks.operations_seen": "scalars, bytes, graph breaks",
    "bottlenecks.prefetching": "prefetch",
    "bottlenecks.tiny_messages": "tiny all-reduces",
    "bottlenecks.unequal": "a slow rank, a slow link",
    "classical.audit.one_row": "`lockstep audit`: a row, in a process of its own",
    "classical.audit.named": "the same",
    "classical.pool": "lab 01 names it: what a dynamic assignment is tried on",
    "cpu.compiled": "machine code, for both",
    "hybrid.beside_planner": "`bench step`",
    "hybrid.mixture_steps": "`bench step`",
    "hybrid.published_steps": "`bench step`, and GPT-3 in the lesson",
    "sharded.fsdp": "FSDP",
    "sharded.mixed_precision": "mixed precision",
    "sharded.sharded_optimizer": "sharded optimizer",
    "sharded.zero": "ZeRO",
    "without_waiting.delayed": "delayed SGD",
    "sharded.hybrid": "hybrid sharding",
    "simt.occupancy": "occupancy",
    "tensor_parallel.conv": "a convolution in parts",
    "tensor_parallel.overlapped": "asynchronous tensor parallelism",
    "experts.mixture_of_depths": "mixture of depths",
    "experts.shared_expert": "a shared expert",
    "experts.two_stages": "node-limited routing, and tokens between nodes",
    "without_waiting.grouped": "grouped all-reduce",
    "without_waiting.hogwild": "HOGWILD!",
    "cost.context_parallel": "formulas stand together",
    "cost.domain_decomposition": "formulas stand together",
    "cost.pipeline": "formulas stand together",
    "cost.reached_devices": "GPT-3 in the lesson, on GPUs as programs reach them",
    "with_horovod.elastic": "runs Horovod",
    "with_horovod.elastic_worker": "runs Horovod",
    "with_horovod.launched": "runs Horovod",
    "with_horovod.ranks": "runs Horovod",
    "with_horovod.waits": "runs Horovod",
}
pytestmark = pytest.mark.reads("pkg/", "course/")


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_map_names_each_file_once(folder: str) -> None:
    there = [p.stem for p in (ROOT / "pkg" / "lockstep" / folder).iterdir() if p.name not in (*BESIDE, "__init__.py")]
    assert sorted(name for name, _ in LINE.findall(FOLDERS[folder])) == sorted(there)


@pytest.mark.parametrize("folder", ENGINE)
def test_the_map_of_a_part_of_the_engine_names_each_file_once(folder: str) -> None:
    """These have no unit, and so no terms of a lesson."""
    package = ROOT / "pkg" / "lockstep" / folder
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    _, _, below = told.partition("Read in this order:\n")
    there = [p.stem for p in package.glob("*.py") if p.name != "__init__.py"]
    assert sorted(name for name, _ in LINE.findall(below)) == sorted(there)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_a_term_is_one_of_the_units_lessons(place: Place) -> None:
    """In the lesson, the pages behind it or the lab, whatever the case of its letters, and with - or a space."""
    (unit,) = (ROOT / "course").glob(f"{place.unit:02d}_*")
    text = flat(" ".join(p.read_text(encoding="utf-8") for p in unit.glob("*.py")))
    assert not [term for term in place.terms if flat(term) not in text]


def flat(text: str) -> str:
    return re.sub(r"[\s*`#-]+", " ", text).lower()


def test_the_glossary_is_that_of_the_maps() -> None:
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == page(ROOT)


def reached(begin: Iterable[str]) -> set[str]:
    """These modules, and what they import, whoever is asked."""
    found, waiting = set(), list(begin)
    while waiting:
        if (module := waiting.pop()) not in found:
            found.add(module)
            waiting += [name for name, _ in imports(ast.parse(source_of(module).read_text()), typing=True)]
    return found


def test_no_file_of_a_technique_is_there_for_a_lesson_or_a_check_only() -> None:
    """Each is reached from an answer to an exercise, or from a part of the library that is neither."""
    props = ("experiments", "exercises", "bench", "lessons", "notebook", "grading", "checks", "cli", "moved")
    own = [m for m in modules() if m.partition(".")[0] in FOLDERS]
    outside = [m for m in modules() if m.partition(".")[0] not in (*FOLDERS, *props)]
    references = [named(exercise.reference.partition(":")[0]) for exercise in exercises()]
    packages = [m for m in own if source_of(m).name == "__init__.py"]
    commands = [m for m in modules() if m.startswith("cli")]  # `lockstep audit`, `horovod`
    found = reached([*outside, *references, *packages, *commands])
    assert sorted(set(own) - found) == sorted(ONLY_IN_A_LESSON)
