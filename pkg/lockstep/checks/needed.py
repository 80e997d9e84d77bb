"""Which top-level statements of a file does a function need? Found by reading compiled code, without running any of
it.

A statement *binds* global names (``STORE_NAME``) and *reads* others (``LOAD_NAME``, or ``LOAD_GLOBAL`` inside a
function). What a name needs is every statement that binds it, and what these read in turn."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from lockstep.checks.names_in_code import inside, used

BIND = ("STORE_NAME", "STORE_GLOBAL")
READ = ("LOAD_NAME", "LOAD_GLOBAL")
CHANGING = (
    "append",
    "extend",
    "insert",
    "update",
    "add",
    "remove",
    "pop",
    "clear",
    "sort",
    "reverse",
    "load_state_dict",
)
OF_TORCH = ("torch", "nn", "init")  # as in torch.nn.init.zeros_(weight)
LAZY_ANNOTATIONS = __future__.annotations.compiler_flag


@dataclass(frozen=True)
class Statement:
    """One top-level statement, compiled with the name of the file or cell that it is in."""

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
    """The names whose value a statement changes: it sets a part of it, as in ``table["a"] = 1`` or ``table.a += 1``;
    calls a method for that, as in ``table.append(1)`` or ``weight.zero_()``; or does so with what it goes through, as
    in ``for p in model.parameters(): p.data = ...``."""
    inner = list(_parts(node))
    found = {name for part in inner for target in _targets(part) if (name := _root(target))}
    for loop in [part for part in inner if isinstance(part, ast.For)]:
        if found & _names(loop.target):
            found |= _names(loop.iter)
    return found


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What is done when a statement is reached: not what stands in functions and classes. The innermost comes last, and
    of loops the outermost."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _parts(child)
    yield node


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return [t for t in node.targets if isinstance(t, (ast.Attribute, ast.Subscript))]
    if isinstance(node, ast.AugAssign):
        return [node.target] if isinstance(node.target, (ast.Attribute, ast.Subscript)) else []
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return []
    called = node.value.func
    if not isinstance(called, ast.Attribute) or not (called.attr in CHANGING or called.attr.endswith("_")):
        return []
    return node.value.args if _root(called) in OF_TORCH else [called.value]


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


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
