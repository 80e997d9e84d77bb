"""The texts that are made of a plain exercise: what stands in a lab, and what a learner's check needs.

given_imports(file)    the file's imports, for the lab
answer(file)           the function, its solution between nbgrader's marks
without_answers(file)  the whole file, without solution and hidden tests
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from lockstep.checks.needed import Statement, needed, statements
from lockstep.checks.plain_file import PlainFile
from lockstep.checks.plain_marks import BEGIN, BEGIN_HIDDEN, END, END_HIDDEN

NOT_WRITTEN = "raise NotImplementedError()"  # as nbgrader puts it


def given_imports(file: PlainFile) -> str:
    """In the order of the file; not those of hidden tests."""
    seen = "\n".join(_without(file.text.splitlines(), BEGIN_HIDDEN, END_HIDDEN, []))
    return "\n".join(_lines(seen, n) for n in ast.parse(seen).body if isinstance(n, ast.Import | ast.ImportFrom))


def answer(file: PlainFile) -> str:
    """What stands above the function and is used by it is given; the solution is between the marks."""
    above = [
        _lines(file.text, s.node)
        for s in _needed(file)
        if not isinstance(s.node, ast.Import | ast.ImportFrom) and file.function not in s.binds
    ]
    node, lines = _node(file), file.text.splitlines()
    first, (begin, last) = _first_line(node), _solution(node, lines)
    if not _marked(lines[first - 1 : last]):
        indent = " " * _body(node)[0].col_offset
        lines[begin - 1 : last] = [indent + BEGIN, *lines[begin - 1 : last], indent + END]
        last += 2
    return "\n\n\n".join([*above, "\n".join(lines[first - 1 : last])])


def without_answers(file: PlainFile) -> str:
    """Nothing in it tells the solution, or a hidden test."""
    node, lines = _node(file), file.text.splitlines()
    begin, last = _solution(node, lines)
    if not _marked(lines[_first_line(node) - 1 : last]):
        lines[begin - 1 : last] = [" " * _body(node)[0].col_offset + NOT_WRITTEN]
    lines = _without(lines, BEGIN, END, [NOT_WRITTEN])  # of a function that is given, too
    return "\n".join(_without(lines, BEGIN_HIDDEN, END_HIDDEN, [])) + "\n"


def _without(lines: Sequence[str], begin: str, end: str, instead: Sequence[str]) -> list[str]:
    """The lines, with ``instead`` in place of all from a mark to its other one."""
    kept, inside = list[str](), False
    for line in lines:
        mark = line.strip()
        if mark == begin:
            inside = True
            kept += [line[: len(line) - len(line.lstrip())] + one for one in instead]
        elif mark == end:
            inside = False
        elif not inside:
            kept.append(line)
    return kept


def _solution(node: ast.FunctionDef, lines: Sequence[str]) -> tuple[int, int]:
    """The first and the last line of a function's body, with the comments before and after its statements."""
    begin, last = _first_line(_body(node)[0]), node.end_lineno or node.lineno
    while _is_comment(lines[begin - 2]):
        begin -= 1
    while last < len(lines) and _is_comment(lines[last]) and lines[last][0].isspace():
        last += 1
    return begin, last


def _is_comment(line: str) -> bool:
    return line.strip().startswith("#")


def _marked(lines: Sequence[str]) -> bool:
    return any(line.strip() == BEGIN for line in lines)


def _needed(file: PlainFile) -> list[Statement]:
    return needed(statements(file.text, str(file.path)), file.function)


def _node(file: PlainFile) -> ast.FunctionDef:
    found = [n for n in ast.parse(file.text).body if isinstance(n, ast.FunctionDef) and n.name == file.function]
    return found[-1]


def _body(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[int(ast.get_docstring(node) is not None) :]


def _first_line(node: ast.stmt) -> int:
    """With its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _lines(text: str, node: ast.stmt) -> str:
    return textwrap.dedent("\n".join(text.splitlines()[_first_line(node) - 1 : node.end_lineno]))
