"""Barriers, at which the warps of a block wait for each other.

A warp is a Python generator that yields at each barrier. Only a statement can yield, so a barrier inside of an
expression (``if cuda.syncthreads_or(changed):``) gets a statement of its own in front, and a name for its answer.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Generator

import numpy as np

from lockstep.simt.interpreter.calls import device_course, device_function
from lockstep.simt.interpreter.kernel_source import UNKNOWN
from lockstep.simt.interpreter.scope import CompileExpression, Scope
from lockstep.simt.lane_values import Value, truth
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.profile import LineCounts
from lockstep.simt.warp import Arrival, Stop, Vote, Warp

Waiting = Callable[[Warp, Mask], Generator[Stop, Value, Value]]

NOBODY = np.zeros(LANES, bool)


@functools.cache
def _barriers() -> dict[int, Vote]:
    from numba import cuda

    return {
        id(cuda.syncthreads): "",
        id(cuda.syncthreads_count): "count",
        id(cuda.syncthreads_and): "and",
        id(cuda.syncthreads_or): "or",
    }


def waits(scope: Scope, node: ast.AST) -> bool:
    """Whether ``node`` itself is a call that may come to a barrier."""
    if not isinstance(node, ast.Call):
        return False
    known = scope.known(node.func)
    if known is UNKNOWN:
        return False
    if id(known) in _barriers():
        return True
    device = device_function(scope, node, known)
    return device is not None and device.waits


def stops(scope: Scope, node: ast.AST) -> bool:
    """Whether ``node`` is a call after which other warps may have to run: it comes to a barrier, or may wait in a loop
    of its own."""
    if waits(scope, node):
        return True
    known = scope.known(node.func) if isinstance(node, ast.Call) else UNKNOWN
    return isinstance(node, ast.Call) and known is not UNKNOWN and device_function(scope, node, known) is not None


def waiting(scope: Scope, node: ast.Call, expression: CompileExpression) -> Waiting:
    """A call that may wait, as a generator that returns its value."""
    known = scope.known(node.func)
    arguments = [expression(scope, argument) for argument in node.args]
    if id(known) not in _barriers():
        device = device_function(scope, node, known)
        assert device is not None  # waits() said so
        return device_course(scope, node, device, arguments)
    vote, line = _barriers()[id(known)], scope.line(node)
    if len(arguments) != (1 if vote else 0):
        raise scope.refuse(node, f"{ast.unparse(node.func)} takes {1 if vote else 'no'} argument.")

    def barrier(warp: Warp, mask: Mask) -> Generator[Stop, Value, Value]:
        holds = np.broadcast_to(truth(arguments[0](warp, mask)), LANES) if vote else NOBODY
        warp.issue(line, mask)
        line.barriers += 1
        if mask.count != warp.started.count:
            _tell_divergence(warp, mask, line)
        answer = yield Arrival(line, mask, vote, holds)
        warp.epoch += 1
        return answer

    return barrier


def _tell_divergence(warp: Warp, mask: Mask, line: LineCounts) -> None:
    missing = warp.threads(warp.started.lanes & ~mask.lanes)
    message = (
        f"{len(missing)} of warp {warp.number}'s threads do not come to this barrier with the others, "
        f"the first is {missing[0]}. On a GPU this hangs, or goes on with half of the data."
    )
    warp.findings.add("divergent_barrier", line, message, missing, times=len(missing))


def hoisted(scope: Scope, statement: ast.stmt) -> list[ast.stmt]:
    """The same statement, with its barriers moved out of expressions and in front of it."""
    name = {ast.If: "test", ast.While: "test", ast.For: "iter"}.get(type(statement), "value")
    value: ast.expr | None = getattr(statement, name, None)
    if value is None:
        return [statement]
    alone = isinstance(statement, ast.Expr | ast.Assign | ast.Return) and waits(scope, value)
    if sum(waits(scope, part) for part in ast.walk(value)) == alone:
        return [statement]
    lift = _Lift(scope)
    setattr(statement, name, lift.visit(value))
    if not isinstance(statement, ast.While):
        return [*lift.before, statement]
    leave = ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), statement.test), [ast.Break()], []), statement)
    statement.test, statement.body = ast.Constant(True), [*lift.before, leave, *statement.body]
    return [ast.fix_missing_locations(ast.copy_location(statement, statement))]


class _Lift(ast.NodeTransformer):
    """Replaces each waiting call by a name, and collects the statements that set it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.before: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not waits(self.scope, node):
            return node
        name = f"barrier {node.lineno}:{node.col_offset}"  # no variable of the kernel can be called so
        self.scope.source.locals.add(name)
        target = ast.copy_location(ast.Name(name, ast.Store()), node)
        self.before.append(ast.copy_location(ast.Assign([target], node), node))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._refuse(node, "`and` and `or`")

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return self._refuse(node, "`… if … else …`")

    def _refuse(self, node: ast.expr, where: str) -> ast.expr:
        if any(waits(self.scope, part) for part in ast.walk(node)):
            raise self.scope.refuse(node, f"a barrier inside of {where} is reached by some threads only.")
        return node
