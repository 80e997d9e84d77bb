"""Subscripts: an item of an array, a row, a slice, an item of a tuple."""

from __future__ import annotations

import ast

import numpy as np

from lockstep.simt.interpreter.scope import CompileExpression, Evaluate, Scope
from lockstep.simt.lane_values import Value
from lockstep.simt.masks import Mask
from lockstep.simt.memory import Array
from lockstep.simt.memory_access import load
from lockstep.simt.warp import Warp


def subscript(scope: Scope, node: ast.Subscript, expression: CompileExpression) -> Evaluate:
    if isinstance(node.slice, ast.Slice):
        return _slice(scope, node, node.slice, expression)
    owner, line = expression(scope, node.value), scope.line(node)
    index = subscript_index(scope, node, expression)

    def evaluate(warp: Warp, mask: Mask) -> Value:
        array, at = owner(warp, mask), index(warp, mask)
        if isinstance(array, Array):
            return load(warp, mask, line, array, at)
        return _item_of_tuple(scope, node, array, at)

    return evaluate


def _slice(scope: Scope, node: ast.Subscript, bounds: ast.Slice, expression: CompileExpression) -> Evaluate:
    """``a[start:stop]``, with bounds that are the same for all threads of the warp."""
    if bounds.step is not None:
        raise scope.refuse(node, "the warp machine has no slices with a step.")
    owner = expression(scope, node.value)
    ends = [expression(scope, end) if end is not None else None for end in (bounds.lower, bounds.upper)]

    def view(warp: Warp, mask: Mask) -> Value:
        array, values = owner(warp, mask), [end(warp, mask) if end is not None else None for end in ends]
        if not isinstance(array, Array) or any(isinstance(value, np.ndarray) for value in values):
            raise scope.refuse(
                node, f"{ast.unparse(node)} is no slice of an array with one start and one stop for all."
            )
        start, stop = (None if value is None else int(value) for value in values)
        return array.sliced(start, stop)

    return view


def _item_of_tuple(scope: Scope, node: ast.Subscript, owner: Value, at: Value) -> Value:
    if not isinstance(owner, tuple):
        raise scope.refuse(node, f"{ast.unparse(node.value)} is one number: it has no items.")
    if isinstance(at, np.ndarray) or at.dtype.kind not in "iu" or not -len(owner) <= at < len(owner):
        raise scope.refuse(node, f"a tuple of {len(owner)} has no item {ast.unparse(node.slice)}.")
    return owner[int(at)]


def subscript_index(scope: Scope, node: ast.Subscript, expression: CompileExpression) -> Evaluate:
    if any(isinstance(part, ast.Slice) for part in ast.walk(node.slice)):
        remedy = "Index single items; a[i] is a row of an array with two axes, a[start:stop] some of its rows."
        raise scope.refuse(node, f"the warp machine has no {ast.unparse(node)} here.", remedy)
    return expression(scope, node.slice)
