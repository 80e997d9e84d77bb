"""Two slips in a plain file, and what was meant: a name that is nearly a setting's, which Python would take and nobody
would read; and a case without the parentheses round its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from lockstep.checks.plain_marks import Slip

CLOSE = 0.75  # of 1, by difflib
LONG = 70  # characters of a case


def mistyped_name(tree: ast.Module, known: Iterable[str], beginnings: Iterable[str], function: str) -> Slip | None:
    """The first name that the file gives and never uses, and that is close to a ``known`` one, or begins nearly as a
    function of a teacher's does: with one of ``beginnings``, as "check_"."""
    known, beginnings = tuple(known), tuple(beginnings)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef):
            continue  # nobody need use the variable of a loop
        for name in sorted(names_given(node) - used - {*known, function}):
            if isinstance(node, ast.FunctionDef):
                head, _, rest = name.partition("_")
                near = get_close_matches(f"{head}_", beginnings, 1, CLOSE) if not name.startswith(beginnings) else []
                meant = f"{near[0]}{rest or '…'}" if near else ""
            else:
                meant = next(iter(get_close_matches(name.lower(), known, 1, CLOSE)), "")
            if meant:
                return Slip(node.lineno, f"nothing uses `{name}`.", f"Did you mean `{meant}`?")
    return None


def names_given(node: ast.stmt) -> set[str]:
    """The names that a statement assigns, or that of the function which it defines."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {inner.id for t in targets if t is not None for inner in ast.walk(t) if isinstance(inner, ast.Name)}


def as_it_is_meant(case: ast.expr | None, fits: Callable[[int], bool]) -> str:
    """What to do with a case that does not say (arguments, expected), in its own values; "" where nobody knows.
    ``fits``: whether the function takes so many arguments."""
    if not isinstance(case, (ast.Tuple, ast.List)) or not case.elts:
        return ""
    first, *rest = case.elts
    if isinstance(first, ast.Tuple) and rest and fits(1) and not fits(len(first.elts)):
        return _told("Put a tuple that is the only argument in a tuple:", [first], rest)
    for last in (1, 2):  # what is expected, and what the case tries
        arguments, rest = case.elts[:-last], case.elts[-last:]
        told = last == 1 or (isinstance(rest[1], ast.Constant) and isinstance(rest[1].value, str))
        if len(arguments) > 1 and fits(len(arguments)) and told:
            return _told("Put several arguments in a tuple:", arguments, rest)
    return ""


def _told(remedy: str, arguments: list[ast.expr], rest: list[ast.expr]) -> str:
    told = ast.unparse(ast.Tuple([ast.Tuple(arguments, ast.Load()), *rest], ast.Load()))
    return f"{remedy} {told}." if len(told) <= LONG else ""
