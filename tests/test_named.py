"""``pytest -k EXERCISE`` imports modules that may have a test of its name, and no other."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from asked import is_asked_for
from proof.named import Named, of_exercise

from lockstep.checks import exercises, find

ROOT = Path(__file__).parents[1]
ROW = "@pytest.mark.parametrize('exercise', {})\ndef test_it(exercise): pass\n"
MAY_NAME_IT = {
    "test_ring.py": "def test_it(): pass\n",
    "test_its_function.py": "def test_a_ring(): pass\n",
    "test_listed.py": "NAMES = ['ring', 'tree']\nPAIRS = [(n, n) for n in NAMES]\n"
    "@pytest.mark.parametrize(('a', 'b'), PAIRS)\ndef test_it(a, b): pass\n",
    "test_given.py": "class TestIt:\n    @pytest.mark.parametrize('fn', [all.ring])\n    def test_it(self, fn): pass\n",
    "test_fixture.py": "@pytest.fixture(params=['ring'])\ndef made(request): pass\ndef test_it(made): pass\n",
    "test_each.py": ROW.format("exercises()"),
    "test_each_of_its_topic.py": f"MINE = [e for e in exercises() if e.topic == 'communication']\n{ROW.format('MINE')}",
}
CANNOT = {
    "test_imported.py": "from x import ring\nRING = 'ring'\ndef test_it(): ring(RING)\n",
    "test_inside.py": "def test_it():\n    check('ring')\n",
    "test_text.py": "TEXT = 'def ring():\\n    pass'\n"
    "@pytest.mark.parametrize('text', [TEXT])\ndef test_it(text): pass\n",
    "test_each_of_another_topic.py": f"GPU = [e for e in exercises() if e.topic == 'gpu']\n{ROW.format('GPU')}",
    "test_all_inside.py": "def test_it():\n    for exercise in exercises(): check(exercise)\n",
    "test_numbers.py": "@pytest.mark.parametrize('n', [1])\ndef test_it(n):\n    for e in exercises(): check(e)\n",
}

# Its rows are files, schedules or operations: the word stands in their names. `make test-affected` goes by contents.
NAMED_BY_DATA = {
    "all files": {"test_layers", "test_maps", "test_moved", "test_told_as_text", "test_site_sources"},
    "figures": {"test_openings", "test_figures_to_scale", "test_page"},
    "schedules": {
        "test_pipeline_memory", "test_schedule_counts", "test_validate", "test_pipeline_figure",
        "test_torch_pipelining",
    },
    "kernels and operations": {"test_roofline", "test_against_simulator", "test_operations", "test_spmd"},
    "units": {"test_labs", "test_suspicious_code", "test_units"},
    "answers": {"test_cheats", "test_fused_tensors"},
    "ways to train": {"test_outer_optimizer"},
}  # fmt: skip


def test_a_module_is_imported_for_what_its_tests_are_named_by(tmp_path: Path) -> None:
    """``pytest -k ping_pong`` imported nbgrader for a module that says the word inside of a test, and took 28 s."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/test_deep.py").write_text(CANNOT["test_inside.py"])
    for name, text in (MAY_NAME_IT | CANNOT).items():
        (tmp_path / name).write_text(text)
    named = Named(tmp_path, "communication", "ring")
    paths = [tmp_path, tmp_path / "deep", tmp_path / "conftest.py", *map(tmp_path.joinpath, MAY_NAME_IT | CANNOT)]
    ignored = {path.name for path in paths if named.pytest_ignore_collect(path)}
    assert ignored == {"deep", *CANNOT}


def test_only_the_name_of_an_exercise_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asked._asked_for", set())
    assert is_asked_for(find("gpu.transpose"))
    for no_name in ("ring", "ping_pong or amdahl", "gpu.ping_pong", "", "*", " or ".join(["tree"] * 90)):
        assert of_exercise(ROOT, no_name) is None, no_name
    for name in ("ping_pong", "communication.ping_pong"):
        assert of_exercise(ROOT, name) is not None, name
    assert [e.id for e in exercises() if is_asked_for(e)] == ["communication.ping_pong"]
    assert of_exercise(ROOT, "saxpy") is not None
    assert [e.id for e in exercises() if is_asked_for(e)] == ["cpu.saxpy", "gpu.saxpy_grid_stride"]


@pytest.mark.slow
@pytest.mark.reads("pkg/", "tests/", "course/")
def test_no_other_test_of_an_exercise_is_passed_over() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    by_module = defaultdict(set)
    for name in re.findall(r"^tests/.*::.*$", done.stdout, re.MULTILINE):
        by_module[ROOT / name.partition("::")[0]].add(name.partition("::")[2])
    assert len(by_module) > 200
    passed_over = set()
    for exercise in exercises():
        named = Named(ROOT / "tests", exercise.topic, exercise.function)
        for module, names in by_module.items():
            if any(exercise.function.lower() in name.lower() for name in names) and not named.may_name_it(module):
                passed_over.add(module.stem)
    assert passed_over == set().union(*NAMED_BY_DATA.values())
