"""A program as text without names and comments: for exercises in which a learner's test is tried on programs that are
known to be right or wrong, and must find out which by running them."""

from __future__ import annotations

import ast
from typing import Any

from lockstep.checks.needed import needed, statements

NAME = "tried"  # by which each of them goes


def nameless(text: str, name: str) -> str:
    """What ``name`` needs of a source, as ``tried``: without comments, docstrings, annotations and whatever else is
    in the file; its functions and classes are called part_0, part_1 and so on. (Where a thing is also a parameter or an
    attribute by name, it keeps that.)"""
    chosen = [s.node for s in needed(statements(text, ""), name)]
    kept = {n.arg for node in chosen for n in ast.walk(node) if isinstance(n, (ast.arg, ast.keyword))}
    defined = [n for node in chosen for n in _defined(node) if n not in kept and n != name]
    names = {old: f"part_{number}" for number, old in enumerate(dict.fromkeys(defined))} | {name: NAME}
    module = ast.Module([_Bare(names).visit(ast.parse(ast.unparse(node)).body[0]) for node in chosen], [])
    return ast.unparse(ast.fix_missing_locations(module))


def _defined(node: ast.stmt) -> list[str]:
    """The names that a statement gives to something of its own: not those that it imports."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


class _Bare(ast.NodeTransformer):
    """Other names, and no words."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return ast.Pass()
        return self.visit(ast.Assign([node.target], node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        return self._without_words(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return self._without_words(node)

    def _without_words(self, node: Any) -> Any:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)
