"""What the documents promise is there, and nothing is committed that should not be."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from lockstep.cli.parser import parse

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/instructors.md"]
LEDGER = "tests/proven.json"  # names and hashes; no test depends on it, or to note a proof would undo one
pytestmark = pytest.mark.reads("**")


def committed() -> list[Path]:
    """Files that git has, or would take; all files where there is no git (a downloaded copy)."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name not in ("", LEDGER) and (ROOT / name).is_file()]


def text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def code_in(document: str) -> list[str]:
    """The command lines of a document: of its code blocks, and what stands between backquotes."""
    text = (ROOT / document).read_text()
    blocks = re.findall(r"```(?:sh|bash|console)?\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in [*lines, *inline] if line]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {line.split()[1] for line in code_in(document) if re.match(r"make [a-z]", line)}
    assert named
    assert named <= targets


def test_help_lists_every_target() -> None:
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    targets -= {"help", "setup-dev", "setup-site"}
    assert {line.split()[1] for line in told.splitlines() if line.startswith("make ")} == targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_lockstep_command_is_understood(document: str) -> None:
    lines = [line[line.index("lockstep ") :] for line in code_in(document) if re.search(r"(^|-m )lockstep [a-z]", line)]
    assert lines
    for line in lines:
        arguments = re.sub(r"\s+…", "", line.replace("[", "").replace("]", "")).split()[1:]
        assert callable(parse(arguments).command), line


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    text = re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", (ROOT / document).read_text())  # `![](opening.svg)` is quoted
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert [link for link in links if "://" not in link and not (ROOT / document).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("folder", ["course", "labs", "solutions"])
def test_links_of_notebooks_lead_somewhere(folder: str) -> None:
    """The end of a lesson named the path of its lab, and it was no link."""
    for path in sorted((ROOT / folder).glob("*/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        text = re.sub(r"`[^`]*`", "", text)  # a[i](x) is no link
        links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]
        assert [link for link in links if not (path.parent / link).exists()] == [], path
        if not path.match("04_*/*"):
            assert [link for link in links if link.endswith(".ipynb")], path


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "make test" in code_in("README.md")
    assert re.search(r"\bmake test\b", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_notebooks_are_committed_without_outputs() -> None:
    for path in (p for p in committed() if p.suffix == ".ipynb"):
        code = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
        assert not [c for c in code if c["outputs"] or c["execution_count"]], (
            f"{path} has outputs: run `lockstep build`"
        )


def test_nothing_names_the_machine_it_was_written_on() -> None:
    paths = {str(ROOT), f"{Path.home()}/", "/work" + "/main", "/opt" + "/wheels", "/opt" + "/pypi"}
    allowed = {ROOT / "LICENSE"}
    texts = {path: text_of(path) or "" for path in committed() if path not in allowed}
    found = {str(path.relative_to(ROOT)): [p for p in paths if p in text] for path, text in texts.items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_no_binary_and_nothing_large() -> None:
    binaries = [str(p.relative_to(ROOT)) for p in committed() if text_of(p) is None]
    assert binaries == []
    assert [str(p.relative_to(ROOT)) for p in committed() if p.stat().st_size > 1_000_000] == []


def test_the_tour_of_the_readme_runs(tmp_path: Path) -> None:
    """Both programs, one after the other: the first gives a Result, the second is a deadlock and says so."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    code = "\n".join(blocks).replace("r.show()", "print(r.show())")
    program = tmp_path / "tour.py"
    program.write_text('if __name__ == "__main__":\n' + indent(code, "    "))
    environment = os.environ | {"LOCKSTEP_HOME": str(tmp_path), "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=120)
    assert "Timeline" in done.stdout
    assert "lockstep.errors.Deadlock: Deadlock: rank 0 waits for rank 1" in done.stderr


@pytest.mark.slow
def test_the_example_of_unequal_ranks_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "virtual-cluster.md").read_text()
    (code, told), *_ = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    program = tmp_path / "unequal.py"
    program.write_text('if __name__ == "__main__":\n' + indent(code, "    "))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == (told, "")


def test_the_readme_and_its_badge_name_the_pythons_that_setup_takes() -> None:
    """Both said "3.11 or newer", and `make lab` refused Python 3.15."""
    taken = re.search(
        r"\((\d), (\d+)\) <= sys\.version_info\[:2\] <= \((\d), (\d+)\)", (ROOT / "scripts/setup").read_text()
    )
    assert taken
    told = "{}.{} to {}.{}".format(*taken.groups())
    assert f"You need Python {told}, make" in (ROOT / "README.md").read_text()
    assert f"Python {told};" in (ROOT / "docs/badges.svg").read_text()


DRAWN = ("ports", "feedback", "colours", "deadlock", "badges")
PICTURES = [(f"{name}-picture", f"{name}.svg") for name in DRAWN]


@pytest.mark.parametrize(("script", "figure"), PICTURES)
def test_pictures_show_what_a_run_does_today(script: str, figure: str) -> None:
    picture = runpy.run_path(str(ROOT / "scripts" / script))["picture"]
    assert (ROOT / "docs" / figure).read_text() == picture() + "\n", f"run scripts/{script} again"
