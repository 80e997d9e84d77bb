"""Finds loops that wait for another thread, by iterations that change nothing.

An iteration that left everything as it was will repeat for ever, unless another thread writes something. So a waiting
loop is distinguished from a long one without any limit on iterations. What counts is the set of active lanes, the
memory that they wrote, and the variables that decide something. A counter of iterations decides nothing unless the loop
uses it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lockstep.simt.lane_values import Value
from lockstep.simt.masks import Mask
from lockstep.simt.warp import Warp


class State(NamedTuple):
    """The state of a warp at the top of a loop; ``changes`` counts what the warp has changed in memory."""

    lanes: int
    changes: int
    values: list[Value]

    @classmethod
    def of(cls, warp: Warp, mask: Mask, names: frozenset[str]) -> State:
        return cls(mask.count, warp.changes, [warp.frame.values.get(name) for name in names])

    def same(self, other: State) -> bool:
        """Whether nothing has changed. Lanes only ever leave a loop: if there are as many, they are the same ones."""
        if (self.lanes, self.changes) != (other.lanes, other.changes):
            return False
        return all(map(_alike, self.values, other.values))


def _alike(one: Value, other: Value) -> bool:
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    numbers = np.ndarray | np.generic
    return isinstance(one, numbers) and isinstance(other, numbers) and np.array_equal(one, other)


def deciding(loop: ast.While) -> frozenset[str]:
    """The variables that determine whether the loop ends, and what it writes to memory.

    These are all that it uses, except for sums and copies that nothing else uses."""
    decides, made_of = set(_names(loop.test)), dict[str, set[str]]()
    for node in _statements(loop):
        targets = _variables(node)
        if targets is None:
            decides |= {name for part in _own(node) for name in _names(part)}
            continue
        value = getattr(node, "value", None)
        used = set(_names(value)) if value is not None else set()
        for target in targets:
            made_of.setdefault(target, set()).update(used, {target} if isinstance(node, ast.AugAssign) else ())
        decides |= {name for call in _parts(value) if isinstance(call, ast.Call) for name in _names(call)}
    while more := {name for target in decides & made_of.keys() for name in made_of[target]} - decides:
        decides |= more
    return frozenset(decides)


def _statements(loop: ast.While) -> Iterator[ast.stmt]:
    return (node for top in loop.body for node in ast.walk(top) if isinstance(node, ast.stmt))


def _variables(node: ast.stmt) -> list[str] | None:
    """The names that an assignment to variables alone assigns; None for any other statement."""
    if isinstance(node, ast.Assign):
        targets = [one for target in node.targets for one in getattr(target, "elts", [target])]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    else:
        return None
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else None


def _own(node: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement, without the statements inside of it."""
    return [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)]


def _parts(node: Any) -> Iterator[ast.AST]:
    return ast.walk(node) if node is not None else iter(())


def _names(node: ast.AST) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
