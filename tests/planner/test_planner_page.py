"""docs/plan.md: each command of the page runs, and prints the lines that stand below it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lockstep.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "plan.md"
BLOCKS = re.findall(r"```bash\n(.*?)```\n+```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
pytestmark = pytest.mark.reads("docs/plan.md")


def spaced(line: str) -> str:
    """Columns are as wide as their widest cell, in whichever plans are shown."""
    return re.sub(r"\s+", " ", line).strip()


def test_the_page_has_ten_questions_and_more() -> None:
    assert len(BLOCKS) >= 12


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0].split("--model ")[1].split()[0])
def test_commands_print_what_the_page_says(capsys: pytest.CaptureFixture[str], block: tuple[str, str]) -> None:
    commands, shown = block
    for command in commands.splitlines():
        words = shlex.split(command, comments=True)
        assert words[0] == "lockstep"
        assert main(words[1:]) == (2 if command.endswith("# refused") else 0)
    out, err = capsys.readouterr()
    printed = {spaced(line) for line in (out + err).splitlines()}
    for line in shown.splitlines():
        assert spaced(line) in printed
