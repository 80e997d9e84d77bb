"""``cuda.shared.array``, ``cuda.local.array`` and ``cuda.const.array_like``: arrays that a kernel declares."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from lockstep.simt.interpreter.constants import literal
from lockstep.simt.interpreter.kernel_source import UNKNOWN
from lockstep.simt.interpreter.scope import Evaluate, Scope
from lockstep.simt.lane_values import Value
from lockstep.simt.masks import Mask
from lockstep.simt.memory import Array, Memory, constant_array, whole
from lockstep.simt.warp import Warp

LIMIT = 48 * 1024  # bytes of static shared memory that a block may have on any GPU


def declaration(scope: Scope, node: ast.Call, known: object) -> Evaluate | None:
    """The array that this call declares, or None if it declares none."""
    from numba import cuda

    if known is cuda.shared.array:
        return _shared(scope, node)
    if known is cuda.local.array:
        return _local(scope, node)
    if known is cuda.const.array_like and len(node.args) == 1:
        array = constant_array(
            ast.unparse(node.args[0]), np.asarray(_constant(scope, node.args[0], "const.array_like"))
        )
        return lambda warp, mask: array
    return None


def _shared(scope: Scope, node: ast.Call) -> Evaluate:
    """One array for the block, the same for each of its threads. Shape 0 means all of ``shared_bytes``."""
    shape, dtype = _arguments(scope, node)
    name = target_name(scope, node)
    key = id(node)

    def declare(warp: Warp, mask: Mask) -> Value:
        shared = warp.block.shared
        if key not in shared:
            shared[key] = whole(Memory.unwritten(name, "shared", shape, dtype), shape)
            _check_size(scope, node, name, shared.values())
        return shared[key]

    return declare if shape != (0,) else lambda warp, mask: warp.block.dynamic(name, dtype)


def _check_size(scope: Scope, node: ast.Call, name: str, arrays: Iterable[Array]) -> None:
    total = sum(array.memory.flat.nbytes for array in arrays)
    if total > LIMIT:
        message = f"with {name} the block has {total:,} bytes of shared memory. It can have {LIMIT:,}."
        raise scope.refuse(node, message, "Take smaller tiles, or pass shared_bytes and declare an array of shape 0.")


def _local(scope: Scope, node: ast.Call) -> Evaluate:
    """An array of each thread's own."""
    shape, dtype = _arguments(scope, node)
    name = target_name(scope, node)
    return lambda warp, mask: whole(Memory.unwritten(name, "local", shape, dtype, copies=32), shape, interleaved=True)


def _arguments(scope: Scope, node: ast.Call) -> tuple[tuple[int, ...], np.dtype[Any]]:
    given = dict(zip(("shape", "dtype"), node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg in ("shape", "dtype")}
    if set(given) != {"shape", "dtype"}:
        raise scope.refuse(node, f"{ast.unparse(node.func)} needs a shape and a dtype.")
    shape = _shape(scope, given["shape"], ast.unparse(node.func))
    shape = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise scope.refuse(node, f"{ast.unparse(given['shape'])} is no shape: whole numbers are.")
    return tuple(int(size) for size in shape), _dtype(scope, given["dtype"])


def _shape(scope: Scope, node: ast.expr, what: str) -> Any:
    shape = literal(scope.source, node)
    if shape is not UNKNOWN:
        return shape
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    part = next(part for part in parts if literal(scope.source, part) is UNKNOWN)
    name = ast.unparse(part)
    value = scope.known(part)
    if value is not UNKNOWN and isinstance(part, ast.BinOp | ast.UnaryOp) and isinstance(value, int):
        told = f"{what} takes numbers and names of numbers; {name} is arithmetic, and numba refuses it on a GPU."
        raise scope.refuse(node, told, f"Write {value}, or name it outside of the kernel: SIZE = {name}.")
    if value is not UNKNOWN:
        raise scope.refuse(node, f"{name} is no shape: whole numbers are.", "Write a Python int, or a name of one.")
    told = f"{what} needs a constant, and {name} is known only at run time."
    remedy = "Write a number, or a name that has one value: set outside of the kernel, or once in it, as N = 32."
    raise scope.refuse(node, told, remedy)


def _constant(scope: Scope, node: ast.expr, what: str) -> Any:
    value = scope.known(node)
    if value is UNKNOWN:
        remedy = "Write a number, or a name that is set outside of the kernel."
        raise scope.refuse(node, f"{what} needs a constant, and {ast.unparse(node)} is known only at run time.", remedy)
    return value


def _dtype(scope: Scope, node: ast.expr) -> np.dtype[Any]:
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    known = _constant(scope, node, "a dtype")
    try:
        return np.dtype(as_dtype(known)) if isinstance(known, types.Type) else np.dtype(known)
    except (TypeError, NotImplementedError):
        raise scope.refuse(
            node, f"{ast.unparse(node)} is no type of numbers.", "Use numba's float32, for example."
        ) from None


def target_name(scope: Scope, node: ast.Call) -> str:
    """The variable to which the array is assigned."""
    for statement in ast.walk(scope.source.tree):
        if isinstance(statement, ast.Assign) and statement.value is node and isinstance(statement.targets[0], ast.Name):
            return statement.targets[0].id
    return "array"
