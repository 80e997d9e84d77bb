"""A learner's working folder: copied once, brought up to date, and nothing that a learner has written is ever lost."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lockstep.cli.lab import sentences
from lockstep.errors import UsageError
from lockstep.grading.course import PACKED, UNITS, root
from lockstep.grading.material import material, settings
from lockstep.grading.working_folder import MARK, bring, working_folder

LESSON, LAB = "course/04_communication/lesson.ipynb", "labs/04_communication/lab.ipynb"
NEW = "course/04_communication/lesson.new.ipynb"
PLAIN = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}


def publish(course: Path, path: str, *cells: str, version: str = "1") -> None:
    """A version of a notebook, as `lockstep build` would make it: a text, and these code cells."""
    code = [new_code_cell(source, id=f"c{i}") for i, source in enumerate(cells)]
    metadata = PLAIN | {"lockstep": {"lab": "04_communication", "version": version}}
    notebook = new_notebook(cells=[new_markdown_cell("# Title", id="title"), *code], metadata=metadata)
    (course / path).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, course / path)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one unit, with an untold solution beside its lesson."""
    course = tmp_path / "clone"
    publish(course, LESSON, "1 + 1", "2 + 2")
    publish(course, LAB, "def ring(): ...")
    publish(course, "course/index.ipynb", "map()")
    (course / "course/04_communication/lab.py").write_text("SOLUTION")
    (course / "course/04_communication/wrong/ring").mkdir(parents=True)
    (course / "course/04_communication/wrong/ring/own.py").write_text("WRONG")
    (course / "course/04_communication/ring.json").write_text("a trace that the lesson has written")
    (course / "course/04_communication/points.csv").write_text("1,2\n")
    (course / "nbgrader_config.py").write_text("")
    (course / "docs").mkdir()
    (course / "docs" / "page.md").write_text("# Page\n")
    return course


@pytest.fixture
def mine(course: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "my-course"
    bring(course, folder)
    return folder


def sources(path: Path) -> list[str]:
    return [c.source for c in nbformat.read(path, as_version=4).cells]


def worked_in(path: Path, cell: int = 1, source: str | None = None, output: str = "") -> bytes:
    """What JupyterLab saves after a learner has changed or run a cell; what is in the file then."""
    nb = nbformat.read(path, as_version=4)
    nb.metadata.language_info.version = "3.11.4"
    if source is not None:
        nb.cells[cell].source = source
    if output:
        nb.cells[cell].outputs = [new_output("stream", text=output)]
        nb.cells[cell].execution_count = 7
    nbformat.write(nb, path)
    return path.read_bytes()


def files(folder: Path) -> dict[str, bytes]:
    found = [p for p in folder.rglob("*") if p.is_file() and MARK not in p.parts]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def test_a_learner_gets_notebooks_and_what_they_need_and_no_solution(course, mine):
    assert set(files(mine)) == {
        LESSON, LAB, "course/index.ipynb", "course/04_communication/points.csv", "docs/page.md", "nbgrader_config.py",
    }  # fmt: skip
    assert all(data == (course / path).read_bytes() for path, data in files(mine).items())


def test_the_second_time_nothing_happens(course, mine):
    before = {path: (mine / path).stat().st_mtime_ns for path in files(mine)}
    brought = bring(course, mine)
    assert (brought.first, brought.copied, brought.beside, brought.used) == (False, [], {}, [])
    assert {path: (mine / path).stat().st_mtime_ns for path in files(mine)} == before
    assert list(sentences(brought, mine)) == []


def test_what_was_not_changed_is_replaced_silently(course, mine):
    worked_in(mine / LESSON)  # opened and saved: JupyterLab has added its metadata
    publish(course, LESSON, "1 + 1", "3 + 3")
    brought = bring(course, mine)
    assert (mine / LESSON).read_bytes() == (course / LESSON).read_bytes()
    assert list(sentences(brought, mine)) == []


def test_outputs_stay_with_their_cells(course, mine):
    worked_in(mine / LESSON, cell=1, output="2")
    publish(course, LESSON, "0 + 0", "1 + 1", "3 + 3")
    assert bring(course, mine).beside == {}
    cells = nbformat.read(mine / LESSON, as_version=4).cells
    assert [c.source for c in cells[1:]] == ["0 + 0", "1 + 1", "3 + 3"]
    assert [len(c.outputs) for c in cells[1:]] == [0, 1, 0]
    assert (cells[2].outputs[0].text, cells[2].execution_count) == ("2", 7)
    assert bring(course, mine).beside == {}
    publish(course, LESSON, "1 + 1")
    assert bring(course, mine).beside == {}, "a notebook that was renewed with its outputs is still not the learner's"


@pytest.mark.parametrize("kind", ["written in", "an output without a place"])
def test_what_is_the_learners_stays_and_the_new_version_comes_beside(course, mine, kind):
    work = worked_in(mine / LESSON, 1, "mine" if kind == "written in" else None, output="2")
    publish(course, LESSON, "1 + 2")
    brought = bring(course, mine)
    assert (mine / LESSON).read_bytes() == work
    assert sources(mine / NEW) == ["# Title", "1 + 2"]
    assert list(sentences(brought, mine)) == [
        f"{LESSON} stays as you left it; the new version stands beside it: lesson.new.ipynb."
    ]
    assert bring(course, mine).beside == {}, "it is told once"


def test_a_new_version_that_was_not_used_is_replaced_and_a_used_one_gets_a_neighbour(course, mine):
    work = worked_in(mine / LESSON, 1, "mine")
    for version in ("second", "third"):
        publish(course, LESSON, version)
        assert bring(course, mine).beside == {LESSON: NEW}
        assert sources(mine / NEW) == ["# Title", version]
    used = worked_in(mine / NEW, 1, "mine, too")
    publish(course, LESSON, "fourth")
    assert bring(course, mine).beside == {LESSON: NEW.replace(".new", ".new-2")}
    assert ((mine / LESSON).read_bytes(), (mine / NEW).read_bytes()) == (work, used)


def test_a_version_with_the_same_text_stands_beside_nothing(course, mine):
    """A new version of the package is written into every lab; whoever has begun one has not got two then."""
    work = worked_in(mine / LAB, 1, "mine")
    worked_in(mine / LESSON, 1, output="2")
    publish(course, LAB, "def ring(): ...", version="2")
    publish(course, LESSON, "1 + 1", "2 + 2", version="2")
    assert bring(course, mine).beside == {}
    assert (mine / LAB).read_bytes() == work, "it goes on saying what it was made with"
    assert nbformat.read(mine / LESSON, as_version=4).metadata.lockstep.version == "2"
    publish(course, LAB, "def ring(n): ...", version="3")
    assert bring(course, mine).beside == {LAB: LAB.replace("lab.ipynb", "lab.new.ipynb")}


def test_whoever_does_not_want_the_new_version_deletes_it_and_is_left_alone(course, mine):
    worked_in(mine / LESSON, 1, "mine")
    publish(course, LESSON, "second")
    bring(course, mine)
    (mine / NEW).unlink()
    assert bring(course, mine).beside == {}
    assert not (mine / NEW).exists()


def test_whoever_deletes_or_renames_a_notebook_begins_anew(course, mine):
    worked_in(mine / LAB, 1, "mine")
    (mine / LAB).rename(mine / "labs/04_communication/first try.ipynb")
    brought = bring(course, mine)
    assert (mine / LAB).read_bytes() == (course / LAB).read_bytes()
    assert list(sentences(brought, mine)) == [f"New in {mine}: {LAB}."]


def test_a_learners_own_file_of_the_same_name_stays(course, mine):
    lesson = "course/05_all_reduce_sgd/lesson.ipynb"
    (mine / lesson).parent.mkdir()
    (mine / lesson).write_text("my notes on the next unit")
    publish(course, lesson, "1")
    assert bring(course, mine).beside == {lesson: lesson.replace("lesson", "lesson.new")}
    assert (mine / lesson).read_text() == "my notes on the next unit"


@pytest.mark.parametrize("record", [None, "", "{", "[]", '{"x": 1}', '{"course/index.ipynb": {"brought": 1}}'])
def test_without_its_record_nothing_is_lost(course, mine, record):
    work = worked_in(mine / LAB, 1, "mine")
    (mine / MARK / "copied.json").unlink()
    if record is not None:
        (mine / MARK / "copied.json").write_text(record)
    publish(course, LESSON, "second")
    brought = bring(course, mine)
    assert (mine / LAB).read_bytes() == work
    assert set(brought.beside) == {LAB, LESSON}
    assert bring(course, mine).beside == {}


def test_work_in_the_courses_own_folder_comes_along_once(course, tmp_path):
    """Before there was a working folder, learners wrote into the clone: git then refuses to pull."""
    work = worked_in(course / LAB, 1, "def ring(): return 1", output="passed")
    folder = tmp_path / "my-course"
    brought = bring(course, folder)
    assert (folder / LAB).read_bytes() == work
    assert brought.used == [LAB]
    assert f"git checkout -- {LAB}" in "".join(sentences(brought, folder))
    assert bring(course, folder).used == []
    publish(course, LAB, "def ring(): ...")  # git checkout
    assert bring(course, folder).beside == {LAB: LAB.replace("lab.ipynb", "lab.new.ipynb")}
    assert (folder / LAB).read_bytes() == work


def test_work_in_both_folders_is_kept(course, mine):
    here = worked_in(mine / LAB, 1, "mine")
    there = worked_in(course / LAB, 1, "mine, in the clone")
    assert bring(course, mine).used == [LAB]
    assert (mine / LAB).read_bytes() == here
    assert (mine / LAB.replace("lab.ipynb", "lab.new.ipynb")).read_bytes() == there
    publish(course, LAB, "second")
    bring(course, mine)
    assert (mine / LAB.replace("lab.ipynb", "lab.new.ipynb")).read_bytes() == there


def refused(course: Path, folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        bring(course, folder)
    return str(caught.value)


def test_a_file_where_a_folder_should_be(course, mine, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert f"{tmp_path / 'file'} is a file, and your work needs a folder." in refused(course, tmp_path / "file")
    assert "a folder is wanted there, and it is a file" in refused(course, tmp_path / "file" / "deeper")
    publish(course, "course/05_all_reduce_sgd/lesson.ipynb", "1")
    (mine / "course" / "05_all_reduce_sgd").write_text("mine")
    assert "a folder is wanted there, and it is a file" in refused(course, mine)
    assert (mine / "course" / "05_all_reduce_sgd").read_text() == "mine"


def test_a_folder_of_the_course_itself(course):
    before = files(course)
    for inside in (".", "course", "course/04_communication", "labs", "elsewhere"):
        assert "belongs to Lockstep itself" in refused(course, course / inside)
    assert files(course) == before
    assert bring(course, course / "my-course").first


def test_a_folder_with_other_files(course, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    assert "holds other files already (chapter.txt)" in refused(course, tmp_path / "thesis")
    assert files(tmp_path / "thesis") == {"chapter.txt": b"mine"}
    (tmp_path / "disk" / "lost+found").mkdir(parents=True)
    assert bring(course, tmp_path / "disk").first, "a disk that is new, as a hub mounts it"


def test_links_are_the_learners(course, mine, tmp_path):
    """A file that is a link stays one; a folder that leads elsewhere is not followed."""
    (mine / LESSON).rename(tmp_path / "mine.ipynb")
    (mine / LESSON).symlink_to(tmp_path / "mine.ipynb")
    publish(course, LESSON, "second")
    assert bring(course, mine).beside == {LESSON: NEW}
    assert (mine / LESSON).is_symlink()
    for path in files(mine / "labs"):
        (mine / "labs" / path).unlink()
    (mine / "labs/04_communication").rmdir()
    (mine / "labs/04_communication").symlink_to(course / "labs/04_communication")
    before = files(course)
    assert f"leads to another place, {course / 'labs/04_communication'}" in refused(course, mine)
    assert files(course) == before
    linked = tmp_path / "linked"
    linked.symlink_to(mine)
    (mine / "labs/04_communication").unlink()
    assert bring(course, linked).copied == [LAB], "the whole folder may be a link"


def test_a_circle_of_links(course, tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert "The course cannot be copied to" in refused(course, tmp_path / "circle")


def test_what_is_no_notebook_any_more_stays(course, mine):
    for number, broken in enumerate(("", "[]", "<<<<<<< HEAD\n", '{"cells": [1], "metadata": {}}', '{"cells": {}}')):
        (mine / LAB).write_text(broken)
        publish(course, LAB, f"version {number}")
        assert list(bring(course, mine).beside) == [LAB]
        assert (mine / LAB).read_text() == broken


def test_a_broken_link_stays_too(course, mine, tmp_path):
    (mine / LAB).unlink()
    (mine / LAB).symlink_to(tmp_path / "nowhere")
    publish(course, LAB, "second")
    assert list(bring(course, mine).beside) == [LAB]
    assert (mine / LAB).is_symlink()
    assert not (tmp_path / "nowhere").exists()


def test_a_full_disk_is_one_sentence_and_loses_nothing(course, mine):
    """A process that may write no file above 100 bytes stands for the disk."""
    work = worked_in(mine / LAB, 1, "mine")
    publish(course, LAB, "second")
    publish(course, LESSON, "second")
    before = files(mine)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        told = refused(course, mine)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert told.startswith("The course cannot be copied to ")
    assert "File too large. Your files are as they were." in told
    assert files(mine) == before
    assert [p.name for p in (mine / MARK).iterdir()] == ["copied.json"]
    assert bring(course, mine).beside.keys() == {LAB}
    assert (mine / LAB).read_bytes() == work


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(course, mine):
    mine.chmod(0o555)
    (mine / MARK).chmod(0o555)
    try:
        assert bring(course, mine).copied == [], "nothing is to be written"
        publish(course, LESSON, "second")
        assert "Permission denied" in refused(course, mine)
    finally:
        mine.chmod(0o755)
        (mine / MARK).chmod(0o755)


STOPPED = """
import os, signal, sys
from pathlib import Path
from lockstep.grading.working_folder import bring

left, replace = int(sys.argv[3]), os.replace

def one_less(*names):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    replace(*names)

os.replace = one_less
bring(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_the_next_time(course, mine):
    """kill -9 before each of the files that it writes and each time with a newer version, until nothing stops it."""
    work = worked_in(mine / LAB, 1, "mine")
    for killed_before in range(10):
        for path in (LESSON, LAB, "course/index.ipynb"):
            publish(course, path, f"version {killed_before}")
        command = [sys.executable, "-c", STOPPED, str(course), str(mine), str(killed_before)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (mine / LAB).read_bytes() == work
        if done.returncode != -signal.SIGKILL:
            break
    assert done.returncode == 0, done.stderr
    assert killed_before == 5, "two records and three notebooks"
    assert (mine / LESSON).read_bytes() == (course / LESSON).read_bytes()
    assert sorted(p.name for p in (mine / "labs").rglob("*.ipynb")) == ["lab.ipynb", "lab.new.ipynb"]
    assert (mine / LAB.replace("lab.ipynb", "lab.new.ipynb")).read_bytes() == (course / LAB).read_bytes()
    assert [p.name for p in (mine / MARK).iterdir()] == ["copied.json"]


def test_killed_during_the_first_copy_the_folder_is_still_known(course, tmp_path):
    folder = tmp_path / "my-course"
    command = [sys.executable, "-c", STOPPED, str(course), str(folder), "2"]
    assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
    assert len(files(folder)) == 1, "the first that it writes is its record"
    assert len(bring(course, folder).copied) == 5


def test_two_at_once_do_the_work_of_one(course, tmp_path):
    folder = tmp_path / "my-course"
    with ThreadPoolExecutor(4) as pool:
        all_brought = list(pool.map(lambda _: bring(course, folder), range(4)))
    assert sorted(len(brought.copied) for brought in all_brought) == [0, 0, 0, 6]
    assert all(data == (course / path).read_bytes() for path, data in files(folder).items())


def test_where_a_learner_works_who_names_no_folder(course, mine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert working_folder(course) == course / "my-course"
    assert working_folder(PACKED) == tmp_path / "home" / "lockstep-course"
    monkeypatch.chdir(mine / "course" / "04_communication")
    assert working_folder(course) == mine


def test_inside_a_working_folder_the_course_is_still_the_clones(course, monkeypatch):
    bring(course, course / "my-course")
    monkeypatch.chdir(course / "my-course" / "labs")
    assert root() == course.resolve()


def links(page: Path) -> list[str]:
    """Relative links of a page or notebook; what stands in code looks like one and is none."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n\n".join(c.source for c in nbformat.reads(text, as_version=4).cells if c.cell_type == "markdown")
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    found = re.findall(r"\]\(([^)#\s]+)[^)]*\)|(?:src|href)=\"([^\"#]+)\"", prose)
    return [link for link in map("".join, found) if not re.match(r"[a-z]+:", link)]


def test_every_link_of_the_course_works_in_the_copy(tmp_path):
    """Of every built notebook, of the pages that they lead to, and of the map on the front page."""
    copy = tmp_path / "my-course"
    bring(root(), copy)
    found = {path: links(copy / path) for path in material(root()) if path.endswith((".ipynb", ".md"))}
    assert "../../docs/virtual-cluster.md" in found[LESSON]
    assert "../labs/04_communication/lab.ipynb" in found["course/index.ipynb"]
    assert [(path, to) for path, all in found.items() for to in all if not ((copy / path).parent / to).exists()] == []
    there = [unit for unit in UNITS if (root() / unit.lesson).is_file()]
    assert all((copy / path).is_file() for unit in there for path in (unit.lesson, unit.lab))


def test_no_text_source_is_in_the_copy():
    paths = material(root())
    assert [p for p in paths if p.endswith(".py")] == ["nbgrader_config.py"]
    assert not [p for p in paths if p.startswith("solutions") or "/wrong/" in p]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as setup.py puts it together for a wheel."""
    pytest.importorskip("setuptools")
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", place, "build_py", "--build-lib", place]
    done = subprocess.run(command, cwd=root(), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.slow
def test_a_wheel_carries_what_a_learner_needs(wheel, monkeypatch, tmp_path):
    packed = wheel / "lockstep" / "material"
    assert sorted(files(packed)) == sorted([*material(root()), *settings(root())])
    home = tmp_path / "home"
    environment = os.environ | {"PYTHONPATH": str(wheel), "HOME": str(home), "LOCKSTEP_HOME": str(tmp_path)}
    program = (
        "from lockstep.cli.lab import config_path\n"
        "from lockstep.grading.course import root, units\n"
        "from lockstep.grading.working_folder import bring, working_folder\n"
        "folder = working_folder(root())\n"
        "bring(root(), folder)\n"
        "print(root(), folder, config_path(folder).split(':')[1], [u['lesson'] for u in units()['units']][0])\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    folder = home / "lockstep-course"
    assert done.stdout == f"{packed} {folder} {packed / 'course/.jupyter'} True\n", done.stderr
    assert files(folder).keys() == set(material(root()))
