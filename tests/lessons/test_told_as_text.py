"""Verdicts are shown as text: marks of Markdown would stand there as they are. "You *receive*" did, with its stars."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "pkg" / "lockstep"
MARKED = re.compile(r"(?<![\w*)\]}])\*{1,2}[A-Za-z][\w ]*\*{1,2}(?![\w*])")


def strings(tree: ast.AST) -> Iterator[str]:
    return (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))


@pytest.mark.parametrize("path", sorted((PACKAGE / "lessons").glob("*.json")), ids=lambda path: path.stem)
def test_what_a_line_or_an_answer_is_told(path: Path) -> None:
    behind = json.loads(path.read_text(encoding="utf-8"))
    told = [text for turn in behind["turns"].values() for text in strings(ast.parse(turn["behind"]))]
    told += [text for quiz in behind["quizzes"].values() for text in strings(ast.parse(repr(quiz)))]
    assert not [text for text in told if MARKED.search(text)]


def test_what_a_known_wrong_answer_tells() -> None:
    for path in PACKAGE.glob("exercises/*/*/wrong/*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TELL":
                assert not [text for text in strings(node) if MARKED.search(text)], path


def test_marks_are_seen() -> None:
    assert MARKED.search("you *receive* it")
    assert MARKED.search("a **bold** word")
    assert not MARKED.search("alpha + 2 * beta * n, w*x*y")
