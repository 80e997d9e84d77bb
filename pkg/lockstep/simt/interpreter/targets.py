"""Assignment targets: a variable, several of them, or an item of an array."""

from __future__ import annotations

import ast
from collections.abc import Callable

from lockstep.simt.interpreter.expressions import expression, operation
from lockstep.simt.interpreter.scope import Scope, Simple
from lockstep.simt.interpreter.subscripts import subscript_index
from lockstep.simt.lane_values import Value, select
from lockstep.simt.masks import Mask
from lockstep.simt.memory import Array
from lockstep.simt.memory_access import load, store
from lockstep.simt.warp import Warp

Store = Callable[[Warp, Mask, Value], None]


def target(scope: Scope, node: ast.expr) -> Store:
    if isinstance(node, ast.Name):
        return variable(node.id)
    if isinstance(node, ast.Tuple | ast.List):
        return _unpacking(scope, node)
    if isinstance(node, ast.Subscript):
        owner, index, line = expression(scope, node.value), subscript_index(scope, node, expression), scope.line(node)

        def put(warp: Warp, mask: Mask, value: Value) -> None:
            store(warp, mask, line, _array(scope, node, owner(warp, mask)), index(warp, mask), value)

        return put
    raise scope.refuse(node, f"a kernel cannot assign to {ast.unparse(node)}.")


def _array(scope: Scope, node: ast.Subscript, owner: Value) -> Array:
    if not isinstance(owner, Array):
        raise scope.refuse(node, f"{ast.unparse(node.value)} is no array: nothing can be stored into it.")
    return owner


def variable(name: str) -> Store:
    """Lanes that are switched off keep what they have."""

    def put(warp: Warp, mask: Mask, value: Value) -> None:
        frame = warp.frame
        if mask.count == frame.alive.count:
            frame.values[name] = value
            frame.partly.pop(name, None)
        elif name not in frame.values:
            frame.values[name] = value
            frame.partly[name] = mask.lanes
        else:
            frame.values[name] = select(mask, value, frame.values[name])
            if name in frame.partly:
                frame.partly[name] = frame.partly[name] | mask.lanes

    return put


def _unpacking(scope: Scope, node: ast.Tuple | ast.List) -> Store:
    stores = [target(scope, item) for item in node.elts]

    def put(warp: Warp, mask: Mask, value: Value) -> None:
        if not isinstance(value, tuple) or len(value) != len(stores):
            raise scope.refuse(node, f"{ast.unparse(node)} needs {len(stores)} values.")
        for one, item in zip(stores, value, strict=True):
            one(warp, mask, item)

    return put


def augmented_item(scope: Scope, node: ast.AugAssign, item: ast.Subscript) -> Simple:
    owner, index, line = expression(scope, item.value), subscript_index(scope, item, expression), scope.line(node)
    value = expression(scope, node.value)
    held: list[Value] = [None]
    update = operation(scope, node, node.op, lambda warp, mask: held[0], value)

    def run(warp: Warp, mask: Mask) -> Mask:
        array, at = _array(scope, item, owner(warp, mask)), index(warp, mask)
        held[0] = load(warp, mask, line, array, at)
        store(warp, mask, line, array, at, update(warp, mask))
        return mask

    return run
