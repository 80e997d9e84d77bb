"""The site's pages before Sphinx has seen them: all are reached, none gives an answer away."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output
from proof.closure import Closure, Part
from proof.tree import Tree
from website import check, documents, executed, exercises, lessons, source
from website.api import page as api_page
from website.api import signature
from website.figures import Shared
from website.links import page_of, rewritten

import lockstep
from lockstep import show, tally
from lockstep.grading.build import build
from lockstep.grading.course import units_of
from lockstep.lessons.behind import load

ROOT = Path(__file__).parents[2]
UNITS = source.there(ROOT)
LESSONS = [path for unit in UNITS for path in sorted((ROOT / unit.lesson).parent.glob("*.ipynb"))]
pytestmark = pytest.mark.reads("course/", "labs/", "solutions/", "docs/", "pkg/", "scripts/website/", "README.md")


# ---- The contents


def listed(pages: dict[str, str]) -> set[str]:
    """What the contents of these pages lead to, without suffix."""
    found = set()
    for path, text in pages.items():
        for tree in re.findall(r":::\{toctree\}\n(.*?)\n:::", text, re.DOTALL):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            found |= {(Path(path).parent / entry).as_posix() for entry in entries}
    return found


def test_every_page_is_in_the_contents_and_nothing_else() -> None:
    pages = source.text_pages(ROOT, UNITS)
    written = {path.rpartition(".")[0] for path in pages} - {"index"}
    run = {page_of(path.relative_to(ROOT).as_posix()).removesuffix(".ipynb") for path in LESSONS}
    elsewhere = {"planner", "gallery/index", "api/index"}  # of figures and names, which write their own contents
    assert listed(pages) == written | run | elsewhere


def test_each_part_of_the_documents_names_pages_that_are_there() -> None:
    written = {Path(page).stem for page in documents.pages(ROOT) if page.startswith("docs/")} - {"index"}
    assert sorted(name for names in documents.PARTS.values() for name in names) == sorted(written)


def test_the_first_page_has_a_row_for_each_unit() -> None:
    rows = [row for row in source.front(ROOT, UNITS).splitlines() if re.match(r"\| \d\d ", row)]
    assert len(rows) == len(source.UNITS)
    assert sum("](lessons/" in row for row in rows) == len(UNITS)


def test_a_page_whose_source_is_gone_is_forgotten(tmp_path: Path) -> None:
    """Sphinx leaves the page of a figure that was renamed, and a check would find its links dead until `make clean`."""
    written, site = tmp_path / "written", tmp_path / "site"
    pages = ("gallery/ring.html", "gallery/old.html", "lessons/04_x.html", "_static/a/own.html", "genindex.html")
    for name in (*pages, "gone/deep/old.html"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).touch()
    for name in ("gallery/ring.md", "lessons/04_x.ipynb", "_static/a/own.html"):
        (written / name).parent.mkdir(parents=True, exist_ok=True)
        (written / name).touch()
    source.forget(written, site)
    left = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert left == {*pages} - {"gallery/old.html"}


def test_units_that_are_left_out_have_pages_that_say_so() -> None:
    """`--only 04` made hundreds of dead links to the others."""
    [kept], pages = source.there(ROOT, ["04"]), source.left_out(ROOT, source.there(ROOT, ["04"]))
    written = [*LESSONS, *ROOT.glob("course/*/*.md")]
    others = {page_of(path.relative_to(ROOT).as_posix()) for path in written if path.parent.name != kept.folder}
    assert {page for page in pages if page.startswith("lessons/")} == others
    assert {page for page in pages if page.startswith("exercises/")} == {
        page_of(unit.lab) for unit in UNITS if unit != kept
    }
    assert all("make site" in text and "orphan" in text for text in pages.values())
    assert source.left_out(ROOT, UNITS) == {}


# ---- Answers


def cells_of(notebook: str) -> list[dict]:
    return list(json.loads((ROOT / notebook).read_text())["cells"])


def solution(cell: dict) -> list[str]:
    """The lines of the author's own part, or none."""
    own = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", "".join(cell["source"]), re.DOTALL)
    return [line.strip() for part in own for line in part.splitlines() if line.strip()]


def leaked(page: str, stub: list[str], lines: list[str]) -> bool:
    """Whether a page has all that an author wrote and a student must find. Hints leave something out; what is to be
    mended is given."""
    there = {line.strip() for line in page.splitlines()}
    own = [line for line in lines if line not in stub]
    return all(line in there for line in own)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.folder)
def test_no_page_of_an_exercise_has_its_answer(unit: source.Unit) -> None:
    pages = exercises.pages(ROOT, unit)
    assert len(pages) > 1
    given = {cell["id"]: "".join(cell["source"]).splitlines() for cell in cells_of(unit.lab)}
    solved = [cell for cell in cells_of(unit.solution) if cell["id"].startswith(exercises.ANSWER) and solution(cell)]
    assert solved
    for cell in solved:
        stub, name = [line.strip() for line in given[cell["id"]]], cell["id"].removeprefix(exercises.ANSWER)
        assert not leaked(pages[f"exercises/{unit.folder}/{name}.md"], stub, solution(cell)), name


def test_a_plain_exercise_has_a_page_like_every_other(tmp_path: Path) -> None:
    """Its text, hints and stub, and how it is checked; no answer."""
    shutil.copytree(ROOT / "tests/plain_course/course", tmp_path / "course")
    build(tmp_path)
    (unit,) = units_of(tmp_path)
    pages = exercises.pages(tmp_path, unit)
    assert {*pages} == {f"exercises/{unit.folder}{page}.md" for page in ("", "/mean_of_shards", "/left_neighbour")}
    page = pages[f"exercises/{unit.folder}/mean_of_shards.md"]
    assert page.startswith("# Mean of shards (15 minutes, 4 points)")
    assert "raise NotImplementedError()" in page
    assert "shards.mean_of_shards" in page
    (answer,) = [
        cell
        for cell in json.loads((tmp_path / unit.solution).read_text())["cells"]
        if cell["id"] == "answer-mean_of_shards"
    ]
    assert solution(answer)
    assert not any(line in page for line in solution(answer))


def test_an_answer_would_be_seen() -> None:
    unit = UNITS[4]
    answer = next(cell for cell in cells_of(unit.solution) if cell["id"] == "answer-ring_all_reduce")
    page = exercises.pages(ROOT, unit)[f"exercises/{unit.folder}/ring_all_reduce.md"]
    assert leaked(f"{page}\n```python\n{''.join(answer['source'])}\n```", [], solution(answer))


# ---- Lessons


def outside_of_folds(cells: list) -> Iterator[str]:
    """What is seen before anything is opened."""
    depth = 0
    for cell in cells:
        text = cell.source
        if depth == 0:
            yield re.sub(r"<details.*?(</details>|$)", "", text, flags=re.DOTALL)
        depth += text.count("<details") - text.count("</details>")
    assert depth == 0, "each fold ends"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_waits_in_a_lesson_is_folded(path: Path, tmp_path: Path) -> None:
    """The lesson's run adds outputs alone: its notebook as it is built has all the rest."""
    behind = load(path.parent.name[3:])
    notebook = nbformat.read(path, as_version=4)
    page = lessons.page(notebook, path.relative_to(ROOT).as_posix(), behind, Shared(tmp_path))
    seen = "\n".join(outside_of_folds(page.cells))
    for sentence in behind.sentences():
        assert sentence not in seen
    assert not re.search(r"^(%%after|lessons\.begin|predict\(|quiz\(|your_turn\()", seen, re.MULTILINE)
    everything = "\n".join(cell.source for cell in page.cells)
    for name, question in behind.predictions.items():
        assert name in behind.further or path.stem == "more" or question.question in everything


def test_neighbours_that_wait_for_the_same_are_in_one_fold() -> None:
    cell = lessons.new_markdown_cell
    parts = [lessons.Part((cell("a"),)), lessons.Part((cell("b"),), "x"), lessons.Part((cell("c"),), "x")]
    folded = [each.source for each in lessons._folded([*parts, lessons.Part((cell("d"),), "x.reason")], load("gpu"))]
    assert [each for each in folded if len(each) == 1] == ["a", "b", "c", "d"]
    summaries = re.findall(r"<summary>(.*?)</summary>", "".join(folded))
    assert summaries == ["Decide on a number first", "Write down your reason first"]


@pytest.mark.parametrize(("doing", "seconds"), [("Training", 0), ("", 0), ("Recording graphs", 300)])
def test_how_long_a_cell_ran_here_is_not_on_its_page(
    doing: str, seconds: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`Training: 2 of 2 in 61 s.` stood in unit 12: of the machine that made the site, and of no lesson."""
    said: list[str] = []
    monkeypatch.setattr(tally, "SOON", -1.0)
    monkeypatch.setattr(tally, "_teller", lambda: lambda text, is_last: said.append(text))
    clock = iter([0, *[seconds] * 9])
    monkeypatch.setattr(tally, "monotonic", lambda: next(clock))
    list(tally.counted([1, 2], doing))
    texts = (said[-1], "It ran for 61 s.", "2 of 2 in 3 lines.")
    outputs = [new_output("display_data", {"text/plain": text}) for text in texts]
    cell = new_code_cell("axes.table()", outputs=outputs)
    lessons._trim(cell, Shared(tmp_path))
    assert [output.data["text/plain"] for output in cell.outputs] == ["2 of 2 in 3 lines."]


def test_a_lesson_runs_anew_when_what_it_sees_has_changed(tmp_path: Path) -> None:
    for name in ("show/ring.py", "cli/run.py", "a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    before = executed.key(executed.library(tmp_path), tmp_path)
    (tmp_path / "cli/run.py").write_text("2")
    assert executed.key(executed.library(tmp_path), tmp_path) == before
    (tmp_path / "show/ring.py").write_text("2")
    assert executed.key(executed.library(tmp_path), tmp_path) != before


def test_no_lesson_uses_what_its_key_leaves_out() -> None:
    used = {name for path in LESSONS for name in re.findall(r"lockstep\.(\w+)", path.read_text())}
    assert used & set(executed.UNSEEN) == set()


# ---- Figures, links, names


def test_figures_share_their_scripts_and_keep_their_state(tmp_path: Path) -> None:
    shared = Shared(tmp_path)
    one, two = (shared.page(show.ring(ranks=ranks).html(), depth=2) for ranks in (3, 4))
    assert len(list(tmp_path.glob("*.js"))) == 1
    assert len(list(tmp_path.glob("*.css"))) == 1
    [script] = tmp_path.glob("*.js")
    assert f'src="../../_static/figures/{script.name}"' in one
    assert "<style>" not in one
    assert one != two
    assert len(one) < len(show.ring(ranks=3).html()) - len(script.read_text()) + 1000
    assert script.read_text().count("export default") == 0


def test_a_figure_that_is_written_otherwise_is_refused(tmp_path: Path) -> None:
    changed = show.ring(ranks=3).html().replace('<script type="module">', '<script type="module" async>')
    with pytest.raises(ValueError, match=r"scripts/website/figures\.py"):
        Shared(tmp_path).page(changed, depth=1)


@pytest.mark.parametrize(
    ("written", "at", "becomes"),
    [
        ("[a](../../docs/plan.md)", "course/04_communication/lesson.ipynb", "[a](../docs/plan.md)"),
        ("[a](../../labs/05_x/lab.ipynb)", "course/04_communication/more.ipynb", "[a](../exercises/05_x.md)"),
        ("![a](opening.svg)", "course/04_communication/lesson.ipynb", "![a](04_communication.svg)"),
        ("[a\nb](docs/plan.md#sizes)", "README.md", "[a b](plan.md#sizes)"),
        ("[`a`](../pkg/lockstep/worlds.py)", "docs/plan.md", "`a`"),
        ("[a](https://example.org/x.md)", "docs/plan.md", "[a](https://example.org/x.md)"),
        ("`[a](x.md)`", "docs/plan.md", "`[a](x.md)`"),
    ],
)
def test_links_lead_to_pages(written: str, at: str, becomes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_REPOSITORY", raising=False)
    assert rewritten(written, at) == becomes


def test_where_the_clone_is_published_links_lead_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_REPOSITORY", "https://example.org/blob/main/")
    assert rewritten("[a](../pkg/x.py)", "docs/plan.md") == "[a](https://example.org/blob/main/pkg/x.py)"


def test_public_names_have_their_signatures() -> None:
    text = api_page(lockstep)
    assert {name for name in lockstep.__all__ if callable(getattr(lockstep, name))} == set(
        re.findall(r"\{py:function\} (\w+)\(", text)
    )
    assert signature(lockstep.predict).startswith("(name: str, question: str, unit: str = ''")


# ---- When CI makes it

SHOWN = ("course/*/*.ipynb", "labs/*/*.ipynb", "docs/*.md", "docs/*.svg", "*.md", "pkg/lockstep/show/*.*",
         "pkg/lockstep/lessons/*.json", "scripts/site", "scripts/website/**/*.*",
         "tests/show/all_figures.py")  # fmt: skip


@pytest.mark.parametrize("pattern", SHOWN)
def test_a_change_of_what_the_site_shows_has_it_made_in_ci(pattern: str) -> None:
    """`.ci/run` installs the extra site where the test in a browser is unproven, and nowhere else."""
    module = "tests/website/test_site_in_browser.py"
    paths = {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern) if "__pycache__" not in path.parts}
    assert paths
    tree = Tree.of(dict.fromkeys(paths, b"") | {module: (ROOT / module).read_bytes()})
    assert paths <= {*Closure(tree).of(Part(module))}
    assert f"'^{module.removesuffix('.py')}'" in (ROOT / ".ci/run").read_text()


# ---- The checker, without a browser


def test_a_link_to_no_page_and_one_to_no_place_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html">x</a><a href="#here">x</a><a id="there" href="c.html#no">x</a>')
    (tmp_path / "c.html").write_text(
        '<a href="a.html#there">x</a><a href="https://example.org">x</a><img src="no.png">'
    )
    assert list(check.dead_links(tmp_path)) == [
        "a.html: #here leads to no place in that page",
        "a.html: b.html leads to no file",
        "a.html: c.html#no leads to no place in that page",
        "c.html: no.png leads to no file",
    ]


def test_axe_looks_at_some_pages_of_each_kind() -> None:
    pages = [f"{kind}/{n:02d}.html" for kind in ("exercises", "gallery", "lessons", "docs") for n in range(9)]
    looked = check.chosen(pages)
    assert {kind: sum(p.startswith(kind) for p in looked) for kind in ("exercises", "gallery", "lessons", "docs")} == {
        "exercises": check.FEW, "gallery": check.FEW, "lessons": 9, "docs": 9,
    }  # fmt: skip


def test_summaries_are_text() -> None:
    assert escape("a < b") in lessons._details("a < b", "x")
