"""Calls in a kernel: intrinsics, atomics, arrays, pure functions, device functions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Generator
from types import FunctionType
from typing import Any

import numpy as np

from lockstep.simt.interpreter.arrays import declaration
from lockstep.simt.interpreter.functions import cast, pure_functions
from lockstep.simt.interpreter.intrinsics import NO_GROUPS, REMEDY, cooperative, intrinsics
from lockstep.simt.interpreter.kernel_source import UNKNOWN
from lockstep.simt.interpreter.scope import CompileExpression, Device, Evaluate, Scope
from lockstep.simt.lane_values import Value
from lockstep.simt.masks import Mask
from lockstep.simt.memory_access import atomics
from lockstep.simt.warp import Frame, Spin, Stop, Warp


def call(scope: Scope, node: ast.Call, expression: CompileExpression) -> Evaluate:
    """A call that cannot wait at a barrier. ``expression`` compiles the arguments."""
    known = scope.known(node.func)
    if any(isinstance(part, ast.expr) and cooperative(scope.known(part)) for part in ast.walk(node.func)):
        raise scope.refuse(node, f"{ast.unparse(node)}: {NO_GROUPS}", REMEDY)
    if known is UNKNOWN:
        raise scope.refuse(node, f"a kernel cannot call {ast.unparse(node.func)}.")
    array = declaration(scope, node, known)
    if array is not None:
        return array
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise scope.refuse(node, f"{ast.unparse(node.func)} takes its arguments by position.")
    if known is print:
        return _print(scope, node, expression)
    arguments = [expression(scope, argument) for argument in node.args]
    with_warp = intrinsics().get(id(known)) or atomics().get(id(known))
    if with_warp is not None:
        return _intrinsic(scope, node, with_warp, arguments)
    function = pure_functions().get(id(known)) or cast(known)
    if function is not None:
        return _pure(scope, node, function, arguments)
    device = device_function(scope, node, known)
    if device is None:
        raise _unknown(scope, node, known)
    return _device(scope, node, device, arguments)


def device_function(scope: Scope, node: ast.Call, known: object) -> Device | None:
    """The compiled form of ``known``, if it is a device function."""
    if id(known) in intrinsics():  # numba has written some of them as device functions
        return None
    function = getattr(known, "py_func", None)
    return scope.device(function, node, scope.source) if isinstance(function, FunctionType) else None


def _unknown(scope: Scope, node: ast.Call, known: object) -> Exception:
    name = ast.unparse(node.func)
    if known is range:
        return scope.refuse(node, "range stands only in `for … in range(…)`.")
    if isinstance(known, FunctionType):
        return _of_the_host(scope, node, name, known)
    return scope.refuse(node, f"a kernel cannot call {name}.")


def _of_the_host(scope: Scope, node: ast.Call, name: str, known: FunctionType) -> Exception:
    """The error for a call of a host function: the learner's own can be made a device function, a library's cannot."""
    if known.__module__ == scope.source.function.__module__:
        return scope.refuse(node, f"{name} is a function of the host.", "Put @cuda.jit(device=True) above its def.")
    if known.__module__.startswith("numba"):
        remedy = "docs/warp-machine.md tells what the machine has, and what it leaves out."
        return scope.refuse(node, f"the warp machine has no {name}.", remedy)
    remedy = "Write what it does in the kernel, or in a function of yours with @cuda.jit(device=True)."
    return scope.refuse(node, f"{name} is a function of the host, from {known.__module__}.", remedy)


def _intrinsic(scope: Scope, node: ast.Call, function: Callable[..., Value], arguments: list[Evaluate]) -> Evaluate:
    line = scope.line(node)
    _check_number(scope, node, list(inspect.signature(function).parameters.values())[3:])

    def evaluate(warp: Warp, mask: Mask) -> Value:
        values = [argument(warp, mask) for argument in arguments]
        warp.issue(line, mask)
        try:
            return function(warp, mask, line, *values)
        except (TypeError, AttributeError, ValueError):
            raise _misused(scope, node) from None

    return evaluate


def _check_number(scope: Scope, node: ast.Call, parameters: list[inspect.Parameter]) -> None:
    names = [parameter.name for parameter in parameters]
    open_ended = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    if len(node.args) != len(names) and not (open_ended and len(node.args) >= len(names) - 1):
        name = ast.unparse(node.func)
        raise scope.refuse(node, f"{name} takes {', '.join(names) or 'nothing'}, and gets {len(node.args)} arguments.")


def _misused(scope: Scope, node: ast.Call) -> Exception:
    return scope.refuse(node, f"{ast.unparse(node)} does not fit its arguments: they are not the numbers it takes.")


def _pure(scope: Scope, node: ast.Call, function: Callable[..., Value], arguments: list[Evaluate]) -> Evaluate:
    line = scope.line(node)

    def evaluate(warp: Warp, mask: Mask) -> Value:
        values = [argument(warp, mask) for argument in arguments]
        warp.issue(line, mask)
        try:
            value = function(*values)
        except (TypeError, AttributeError, ValueError):
            raise _misused(scope, node) from None
        if value.dtype.char == "d":
            line.double_precision += 1
        return value

    return evaluate


def _print(scope: Scope, node: ast.Call, expression: CompileExpression) -> Evaluate:
    """Print one line for each active lane."""
    texts = [part.value if isinstance(part, ast.Constant) else None for part in node.args]
    parts = [None if text is not None else expression(scope, part) for part, text in zip(node.args, texts, strict=True)]

    def evaluate(warp: Warp, mask: Mask) -> Value:
        values = [text if part is None else part(warp, mask) for part, text in zip(parts, texts, strict=True)]
        for lane in np.flatnonzero(mask.lanes):
            print(*(value[lane] if isinstance(value, np.ndarray) else value for value in values))

    return evaluate


def _device(scope: Scope, node: ast.Call, device: Device, arguments: list[Evaluate]) -> Evaluate:
    course = device_course(scope, node, device, arguments)

    def evaluate(warp: Warp, mask: Mask) -> Value:
        way: Generator[Stop, Value, Value] = course(warp, mask)
        try:
            stop = next(way)
        except StopIteration as end:
            return end.value
        assert isinstance(stop, Spin)  # a device function with a barrier is in a statement of its own
        raise scope.refuse(
            node,
            f"{device.name} waits in a loop for another thread, and stands inside of an expression.",
            f"Let it stand alone, so that the machine can let other threads run: x = {ast.unparse(node)}.",
        )

    return evaluate


def device_course(
    scope: Scope, node: ast.Call, device: Device, arguments: list[Evaluate]
) -> Callable[[Warp, Mask], Generator[Stop, Value, Value]]:
    """The execution of a device function, as a generator: it may come to barriers, and returns its value."""
    if len(arguments) != len(device.parameters):
        raise scope.refuse(node, f"{device.name} needs {len(device.parameters)} arguments, and gets {len(arguments)}.")
    line = scope.line(node)

    def course(warp: Warp, mask: Mask) -> Generator[Stop, Value, Value]:
        values: list[Any] = [argument(warp, mask) for argument in arguments]
        warp.issue(line, mask)
        outer = warp.frame
        warp.frame = Frame(mask, dict(zip(device.parameters, values, strict=True)))
        yield from device.body(warp, mask)
        returned = warp.frame.returned
        warp.frame = outer
        return returned

    return course
