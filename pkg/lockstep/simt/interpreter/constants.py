"""The array sizes that numba accepts: literal numbers, and names of constants.

A name from outside of the kernel, or a variable that has one literal value wherever it comes from, is a constant. Of
arithmetic numba works out literals alone: it refuses ``TILE + 1``. (Tried with numba 0.68 and numba-cuda 0.30, which
get this far without a GPU; numba's simulator takes anything.)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lockstep.simt.interpreter.kernel_source import UNKNOWN, Source


class _Varies:
    """The value of a variable that depends on the control flow or on the run."""


VARIES = _Varies()
Values = Mapping[str, Any]  # of the variables that have been assigned


def literal(source: Source, node: ast.expr, at: Values | None = None) -> Any:
    """The whole number, or the tuple of them, that numba sees in ``node``; else UNKNOWN. ``at``: the variables
    there."""
    if isinstance(node, ast.Name) and node.id in source.locals:
        value = (variables(source, node) if at is None else at).get(node.id, VARIES)
        return UNKNOWN if value is VARIES else value
    if isinstance(node, ast.Tuple):
        items = tuple(literal(source, item, at) for item in node.elts)
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(node, ast.Subscript):
        return _item(literal(source, node.value, at), literal(source, node.slice, at))
    if isinstance(node, ast.Name | ast.Constant) or _written_out(node):
        value = source.known(node)
        return value if _whole(value) or (isinstance(value, tuple) and all(map(_whole, value))) else UNKNOWN
    return UNKNOWN


def _whole(value: Any) -> bool:
    return type(value) is int  # no bool, and no number of NumPy's


def _item(items: Any, number: Any) -> Any:
    inside = isinstance(items, tuple) and _whole(number) and -len(items) <= number < len(items)
    return items[number] if inside else UNKNOWN


def _written_out(node: ast.AST) -> bool:
    """Arithmetic on literals alone, evaluated by Python itself."""
    parts = ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Constant
    return all(isinstance(part, parts) for part in ast.walk(node))


def variables(source: Source, node: ast.expr) -> Values:
    """The known value of each variable at ``node``."""
    found: list[Values] = []
    _through(source, source.tree.body, {}, node, found.append)
    return found[-1] if found else {}


def _through(
    source: Source, body: Sequence[ast.stmt], at: Values, wanted: ast.AST, tell: Callable[[Values], None]
) -> Values:
    """The values after the statements; ``tell`` gets those before the one that contains ``wanted``."""
    for statement in body:
        inner = _bodies(statement)
        if isinstance(statement, ast.For | ast.While):
            at = _joined(at, _any_of(source, statement, at))
        if any(part is wanted for own in _outside(statement, inner) for part in ast.walk(own)):
            tell(at)
        if isinstance(statement, ast.For | ast.While):
            for block in inner:
                _through(source, block, at, wanted, tell)
        elif inner:
            ways = [_through(source, block, at, wanted, tell) for block in inner]
            at = _joined(*ways) if len(ways) > 1 else _joined(at, *ways)
        else:
            at = {**at, **dict(_assigned(source, statement, at))}
    return at


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [block for block in (getattr(statement, "body", []), getattr(statement, "orelse", [])) if block]


def _outside(statement: ast.stmt, inner: Sequence[Sequence[ast.stmt]]) -> Iterator[ast.AST]:
    """The parts of a statement that are not in its body."""
    within = {id(one) for block in inner for one in block}
    return (part for part in ast.iter_child_nodes(statement) if id(part) not in within)


def _any_of(source: Source, loop: ast.For | ast.While, at: Values) -> Values:
    """Whatever an iteration may leave behind."""
    parts = [part for part in ast.walk(loop) if isinstance(part, ast.stmt)]
    names = {name for part in parts for name, _ in _assigned(source, part, at)}
    unsure = {**at, **dict.fromkeys(names, VARIES)}
    found: Values = {}
    for part in parts:
        found = _joined(found, dict(_assigned(source, part, unsure)))
    return found


def _joined(*ways: Values) -> Values:
    """The values where control flow joins: those that are known on every path that has one."""
    found: dict[str, Any] = {}
    for name, value in (item for way in ways for item in way.items()):
        same = name not in found or (type(found[name]) is type(value) and found[name] == value)
        found[name] = value if same else VARIES
    return found


def _assigned(source: Source, statement: ast.stmt, at: Values) -> Iterator[tuple[str, Any]]:
    """Each variable that a simple statement, or the head of a loop, assigns; and its value then."""
    value: ast.expr | None = getattr(statement, "value", None)
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    plain = isinstance(statement, ast.Assign | ast.AnnAssign) and value is not None
    known = literal(source, value, at) if plain and value is not None else UNKNOWN
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, VARIES if known is UNKNOWN else known
        elif isinstance(target, ast.Tuple | ast.List):
            values = known if isinstance(known, tuple) and len(known) == len(target.elts) else None
            for place, one in enumerate(target.elts):
                if isinstance(one, ast.Name):
                    yield one.id, values[place] if values is not None else VARIES
