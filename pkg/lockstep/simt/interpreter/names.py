"""Names in a kernel: its variables, and names from outside: constants, ``cuda.threadIdx.x``, ``a.shape``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from lockstep.simt.interpreter.intrinsics import (
    DIMENSIONS,
    NO_GROUPS,
    REMEDY,
    constant_of,
    cooperative,
    thread_constant,
)
from lockstep.simt.interpreter.kernel_source import UNKNOWN
from lockstep.simt.interpreter.scope import CompileExpression, Evaluate, Scope
from lockstep.simt.lane_values import Value, typed
from lockstep.simt.masks import Lanes, Mask
from lockstep.simt.memory import Array, constant_array
from lockstep.simt.profile import LineCounts
from lockstep.simt.warp import Warp

NOTHING = np.float32(np.nan)


def name(scope: Scope, node: ast.Name) -> Evaluate:
    if node.id not in scope.source.locals:
        return outside(scope, node, scope.known(node))
    variable, line = node.id, scope.line(node)

    def read(warp: Warp, mask: Mask) -> Value:
        frame = warp.frame
        if variable not in frame.values:
            _tell_missing(warp, mask.lanes, line, variable)
            return NOTHING
        if frame.partly and variable in frame.partly:
            _tell_missing(warp, mask.lanes & ~frame.partly[variable], line, variable)
        return frame.values[variable]

    return read


def _tell_missing(warp: Warp, missing: Lanes, line: LineCounts, name: str) -> None:
    """Report a read of a variable that only other threads have assigned: here it is an uninitialised register."""
    threads = warp.threads(missing)
    if threads:
        message = f"{threads[0]} reads the variable {name}, and has given it no value."
        warp.findings.add("uninitialised_read", line, message, threads, name, times=len(threads))


def outside(scope: Scope, node: ast.expr, value: Any) -> Evaluate:
    """A constant from outside of the kernel, compiled in, as numba does."""
    special = thread_constant(value)
    if special is not None:
        return special
    if isinstance(value, np.ndarray):
        array = constant_array(ast.unparse(node), value)
        return lambda warp, mask: array
    constant = typed(value)
    if isinstance(constant, np.generic | tuple):
        return lambda warp, mask: constant
    name = ast.unparse(node)
    if cooperative(value):
        raise scope.refuse(node, f"{name}: {NO_GROUPS}", REMEDY)
    if callable(value):
        raise scope.refuse(node, f"{name} is no value.", f"If it is a function, call it: {name}(…).")
    what = "a module" if isinstance(value, ModuleType) else f"of type {type(value).__name__}"
    raise scope.refuse(node, f"{name} is {what}; a kernel needs a number or an array here.")


def attribute(scope: Scope, node: ast.Attribute, expression: CompileExpression) -> Evaluate:
    owner = scope.known(node.value)
    of_axis = constant_of(owner) if node.attr in DIMENSIONS else None
    if of_axis is not None:
        axis = DIMENSIONS[node.attr]
        return lambda warp, mask: of_axis(warp)[axis]
    known = scope.known(node)
    if known is not UNKNOWN:
        return outside(scope, node, known)
    return _of_array(scope, node, expression(scope, node.value))


ATTRIBUTES: dict[str, Callable[[Array], Value]] = {
    "shape": lambda array: typed(array.shape),
    "size": lambda array: np.int64(array.size),
    "ndim": lambda array: np.int64(len(array.shape)),
}


def _of_array(scope: Scope, node: ast.Attribute, owner: Evaluate) -> Evaluate:
    find = ATTRIBUTES.get(node.attr)
    if find is None:
        raise scope.refuse(node, f"a kernel cannot use .{node.attr}.", "An array has shape, size and ndim.")

    def of(warp: Warp, mask: Mask) -> Value:
        array = owner(warp, mask)
        if not isinstance(array, Array):
            raise scope.refuse(node, f"{ast.unparse(node.value)} is no array: it has no {node.attr}.")
        return find(array)

    return of
