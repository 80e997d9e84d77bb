"""Which tests a change touches: nothing is missed, and what has nothing to do with it is left alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from proof.closure import Closure, Part
from proof.ledger import Ledger
from proof.names import names
from proof.reach import Reach
from proof.tree import Tree

FACE = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from lockstep.late import late as late
    from lockstep.worlds import run as run
def __getattr__(name): ...
"""
EXERCISE = 'EXERCISE = Exercise(reference="lockstep.rings:{0}")'
TREE = {
    "pkg/lockstep/__init__.py": FACE,
    "pkg/lockstep/errors.py": "",
    "pkg/lockstep/late.py": "def late(): ...",
    "pkg/lockstep/deep.py": "",
    "pkg/lockstep/worlds.py": "from lockstep.errors import E\n"
    "def run():\n    from lockstep.show.timeline import timeline",
    "pkg/lockstep/show/__init__.py": "",
    "pkg/lockstep/show/timeline.py": "from lockstep.show.script import script",
    "pkg/lockstep/show/script.py": 'def script(name): return read(f"{name}.js")',
    "pkg/lockstep/show/timeline.js": "draw()",
    "pkg/lockstep/tables.py": "def published(part, file): ...",
    "pkg/lockstep/rings/__init__.py": "from lockstep.rings.one import one, two",
    "pkg/lockstep/rings/one.py": "",
    "pkg/lockstep/rings/cost.py": 'from lockstep.tables import published\nrows = published("rings", "speeds.csv")',
    "pkg/lockstep/rings/data/speeds.csv": "1,2",
    "pkg/lockstep/checks/__init__.py": "def exercises(): ...",
    "pkg/lockstep/cli.py": 'import importlib\nimportlib.import_module(f"lockstep.ways.{way}")',
    "pkg/lockstep/__main__.py": "from lockstep.cli import main",
    "pkg/lockstep/ways/fast.py": "",
    "pkg/lockstep/exercises/rings/one/exercise.py": EXERCISE.format("one"),
    "pkg/lockstep/exercises/rings/one/wrong/late.py": "from lockstep.errors import E",
    "pkg/lockstep/exercises/rings/two/exercise.py": "from lockstep.exercises.rings.shared import x\n"
    + EXERCISE.format("two"),
    "pkg/lockstep/exercises/rings/shared.py": "",
    "pkg/lockstep/lessons/rings.json": "{}",
    "course/04_rings/lesson.py": '# %%\n%matplotlib inline\nfrom lockstep.deep import x',
    "course/04_rings/lab.py": 'check("rings.one", one)',
    "labs/04_rings/lab.ipynb": "{}",
    "docs/guide.md": "# A guide",
    "constraints.txt": "torch==2.13.0",
    "tests/conftest.py": "",
    "tests/rings/conftest.py": "",
    "tests/rings/helper.py": "import lockstep.deep",
    "tests/rings/programs/slow.txt": "",
    "tests/rings/test_plain.py": "from lockstep.errors import E",
    "tests/rings/test_helped.py": "from helper import x",
    "tests/rings/test_lazy.py": "import lockstep\nlockstep.late()",
    "tests/rings/test_called.py": "from lockstep import run",
    "tests/rings/test_shown.py": "from lockstep import run\nrun().show()",
    "tests/rings/test_string.py": 'find("lockstep.deep:x")',
    "tests/rings/test_code.py": 'start([python, "-c", "from lockstep import late; late()"])',
    "tests/rings/test_table.py": "from lockstep.rings.cost import rows",
    "tests/rings/test_beside.py": 'text = (HERE / "programs" / name).read_text()',
    "tests/rings/test_page.py": 'text = (ROOT / "docs" / "guide.md").read_text()',
    "tests/rings/test_declared.py": 'import pytest\npytestmark = pytest.mark.reads("docs/", "course/")',
    "tests/rings/test_command.py": 'start([python, "-m", "lockstep", "fast"])',
    "tests/rings/test_unit.py": 'open("labs/04_rings/lab.ipynb")',
    "tests/rings/test_named.py": 'find("rings.one")',
    "tests/test_sweep.py": "from lockstep.checks import exercises\n@pytest.mark.parametrize('exercise', exercises())\n"
    "def test_x(exercise): ...",
    "tests/test_units.py": "from lockstep.grading.course import UNITS\n"
    "@pytest.mark.parametrize('unit', UNITS)\ndef test_x(unit): ...",
}  # fmt: skip


def closure(**changed: str | None) -> Closure:
    """Of the small tree, with some files written anew, or taken away: ``docs__guide_md`` is docs/guide.md."""
    files = dict(TREE)
    for path, text in changed.items():
        if text is None:
            del files[path]
        else:
            files[path] = text
    return Closure(Tree.of({path: text.encode() for path, text in files.items()}))


def touched(path: str, text: str | None = "# another\n") -> set[str]:
    """The parts that must run when a file has changed, with what was collected before."""
    before, now = closure(), closure(**{path: text})
    then = {str(part): before.hash(part) for part in before.parts()}
    return {str(part).removeprefix("tests/rings/") for part in now.parts() if then.get(str(part)) != now.hash(part)}


UNITS = {"tests/test_units.py", "tests/test_units.py::04_rings", "test_unit.py", "test_declared.py"}
ONE = {"test_named.py", "tests/test_sweep.py", "tests/test_sweep.py::rings.one"}
RUNNING = {"test_called.py", "test_shown.py"}
EVERYBODY = {str(part).removeprefix("tests/rings/") for part in closure().parts()}


@pytest.mark.parametrize(
    ("path", "parts"),
    {
        "docs/guide.md": {"test_page.py", "test_declared.py"},
        "pkg/lockstep/late.py": {"test_lazy.py", "test_code.py"},
        "pkg/lockstep/deep.py": {"test_helped.py", "test_string.py"} | UNITS,
        "pkg/lockstep/worlds.py": RUNNING,
        "pkg/lockstep/show/timeline.py": {"test_shown.py"},
        "pkg/lockstep/show/timeline.js": {"test_shown.py"},
        "pkg/lockstep/tables.py": {"test_table.py"},
        "pkg/lockstep/rings/data/speeds.csv": {"test_table.py"},
        "pkg/lockstep/ways/fast.py": {"test_command.py"},
        "pkg/lockstep/exercises/rings/two/exercise.py": {"tests/test_sweep.py", "tests/test_sweep.py::rings.two"},
        "pkg/lockstep/exercises/rings/shared.py": {"tests/test_sweep.py", "tests/test_sweep.py::rings.two"},
        "pkg/lockstep/exercises/rings/one/exercise.py": ONE | UNITS,
        "pkg/lockstep/exercises/rings/one/wrong/late.py": ONE | UNITS,
        "pkg/lockstep/exercises/rings/one/wrong/new.py": ONE | UNITS,
        "pkg/lockstep/lessons/rings.json": UNITS,
        "course/04_rings/lesson.py": UNITS,
        "labs/04_rings/lab.ipynb": UNITS,
        "tests/rings/helper.py": {"test_helped.py"},
        "tests/rings/programs/slow.txt": {"test_beside.py"},
        "tests/rings/test_plain.py": {"test_plain.py"},
        "tests/conftest.py": EVERYBODY,
        "constraints.txt": EVERYBODY,
    }.items(),
)
def test_what_a_change_touches(path: str, parts: set[str]) -> None:
    assert touched(path) == parts


def test_a_file_that_is_gone_touches_whoever_depended_on_it() -> None:
    assert touched("pkg/lockstep/late.py", None) == {"test_lazy.py", "test_code.py"}
    assert touched("docs/guide.md", None) == {"test_page.py", "test_declared.py"}
    assert touched("pkg/lockstep/exercises/rings/one/wrong/late.py", None) == ONE | UNITS


def test_a_file_that_was_missing_touches_whoever_named_it() -> None:
    before, now = closure(**{"pkg/lockstep/deep.py": None}), closure()
    assert before.hash(Part("tests/rings/test_string.py")) != now.hash(Part("tests/rings/test_string.py"))


def test_docstrings_and_types_lead_nowhere() -> None:
    found = names('"""See docs/guide.md and lockstep.deep."""\nif TYPE_CHECKING:\n    from lockstep.late import late\n')
    assert (found.imports, found.strings) == (frozenset(), frozenset())


def test_a_module_that_is_no_python_names_nothing() -> None:
    assert names("def broken(:") == names("")


def test_why_a_part_depends_on_a_file() -> None:
    way = closure().way(Part("tests/rings/test_shown.py"), "pkg/lockstep/show/timeline.js")
    assert [step.rpartition("/")[2] for step in way] == [
        "test_shown.py", "worlds.py", "timeline.py", "script.py", "timeline.js",
    ]  # fmt: skip


def test_who_is_about_an_exercise_and_who_goes_through_many() -> None:
    """A change in one exercise ran all of the hub and each lesson of its unit, and took longer than ten minutes."""
    tree = closure(**{"tests/grading/test_labs.py": TREE["tests/test_units.py"]})
    about = {str(part) for part in tree.parts() if tree.is_about(part, "rings.one")}
    assert about == {
        "tests/rings/test_named.py", "tests/test_sweep.py::rings.one", "tests/grading/test_labs.py::04_rings"
    }  # fmt: skip
    assert tree.exercise_of("pkg/lockstep/exercises/rings/one/wrong/late.py") == "rings.one"
    assert tree.exercise_of("pkg/lockstep/exercises/rings/shared.py") == ""


def test_circles_reach_the_same() -> None:
    graph = {"a": "b", "b": "ce", "c": "a", "d": "c", "e": "", "f": "f"}
    reach = Reach(lambda node: graph[node])
    assert {node: "".join(sorted(reach.of([node]))) for node in graph} == {
        "a": "abce", "b": "abce", "c": "abce", "d": "abcde", "e": "e", "f": "f",
    }  # fmt: skip


def test_versions_are_in_a_hash() -> None:
    part = Part("tests/rings/test_plain.py")
    assert len({closure().hash(part), closure().hash(part, "3.11"), closure().hash(part, "3.12")}) == 3


def test_two_trees_of_one_checkout(tmp_path: Path) -> None:
    """As it lies there, with a new file; and as it was committed."""
    for words in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("ä = 1\n")
    (tmp_path / ".gitignore").write_text("build\n")
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "a"], cwd=tmp_path, check=True)
    committed = Tree.at(tmp_path, "HEAD")
    assert committed.ids == Tree.working(tmp_path).ids
    assert committed.read("tests/test_a.py") == "ä = 1\n".encode()
    (tmp_path / "build").write_text("no file of the project")
    (tmp_path / "tests" / "test_b.py").write_text("")
    (tmp_path / "tests" / "test_a.py").unlink()
    assert set(Tree.working(tmp_path).ids) == {".gitignore", "tests/test_b.py"}


def test_the_ledger_has_a_line_for_each_module_and_remembers(tmp_path: Path) -> None:
    file = tmp_path / "proven.json"
    one, other, third = Part("tests/test_a.py"), Part("tests/test_a.py", "rings.one"), Part("tests/test_b.py")
    ledger = Ledger.read(file)
    ledger.add({one: "1", other: "2", third: "3"}, "2026-11-26")
    ledger.write(file)
    assert len(file.read_text().splitlines()) == 2 + 2 + 1
    assert json.loads(file.read_text())["modules"]["tests/test_a.py"]["rings.one"] == ["2", "2026-11-26"]
    again = Ledger.read(file)
    assert again == ledger
    assert again.proves(other, "2")
    assert not again.proves(other, "3")
    assert not again.proves(Part("tests/test_c.py"), "1")
    again.keep([third])
    assert [*again.proofs] == [third]


def test_entries_are_tried_anew_in_rotation(tmp_path: Path) -> None:
    """Each time that proofs are added the next ones have their turn, and after the last the first."""
    parts = [Part(f"tests/test_{i}.py") for i in range(7)]
    ledger = Ledger()
    ledger.add(dict.fromkeys(parts, "1"), "2026-11-26")
    turns = []
    for _ in range(3):
        turns.append([int(str(part)[11]) for part in ledger.in_rotation(5)])
        ledger.add({parts[0]: "1"}, "2026-11-27")
    assert turns == [[5, 6, 0, 1, 2], [3, 4, 5, 6, 0], [1, 2, 3, 4, 5]]
