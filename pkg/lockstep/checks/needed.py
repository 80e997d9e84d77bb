"""Which top-level statements of a file does a function need? Found by reading compiled code, without running any of
it.

A statement *binds* global names (``STORE_NAME``) and *reads* others (``LOAD_NAME``, or ``LOAD_GLOBAL`` inside a
function). What a name needs is every statement that binds it, and what these read in turn."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from lockstep.checks.names_in_code import inside, used

BIND = ("STORE_NAME", "STORE_GLOBAL")
READ = ("LOAD_NAME", "LOAD_GLOBAL")
LAZY_ANNOTATIONS = __future__.annotations.compiler_flag


@dataclass(frozen=True)
class Statement:
    """One top-level statement, compiled with the name of the file or cell that it stands in."""

    node: ast.stmt
    code: CodeType
    binds: frozenset[str]
    reads: frozenset[str]
    optional: bool  # "from x import *": nobody can tell what it binds


@lru_cache(256)  # an exercise's known answers are read for each answer
def statements(text: str, filename: str) -> list[Statement]:
    """The top-level statements of a source; SyntaxError or ValueError if it is no Python."""
    return [_statement(node, filename) for node in ast.parse(text).body]


def _statement(node: ast.stmt, filename: str) -> Statement:
    code = compile(ast.Module([node], []), filename, "exec", flags=LAZY_ANNOTATIONS, dont_inherit=True)
    binds = {name for operation, name in used(code) if operation in BIND} | _changed(node)
    reads = {name for part in inside(code) for operation, name in used(part) if operation in READ}
    star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    return Statement(node, code, frozenset(binds), frozenset(reads), star)


def _changed(node: ast.stmt) -> set[str]:
    """The names of which a part is set, as in ``table["a"] = 1`` or ``table.a += 1``."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return {name for target in targets if (name := _root(target))}


def _root(target: ast.expr) -> str:
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def needed(all_statements: Sequence[Statement], name: str) -> list[Statement]:
    """What ``name`` depends on, in the order of the file."""
    names, chosen, before = {name}, set[int](), -1
    while len(chosen) > before:
        before = len(chosen)
        for number, statement in enumerate(all_statements):
            if number not in chosen and (statement.optional or names & statement.binds):
                chosen.add(number)
                names |= statement.reads
    return [all_statements[number] for number in sorted(chosen)]
