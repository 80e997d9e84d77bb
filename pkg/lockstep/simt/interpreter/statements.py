"""Statements of a kernel: each takes a warp and the lanes that reach it, and returns the lanes that continue after it.

Plain statements are functions. Those that have a body, or a barrier, are generators: they yield at barriers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from typing import Any

from lockstep.simt.interpreter.barriers import Waiting, hoisted, stops, waiting
from lockstep.simt.interpreter.expressions import condition, expression
from lockstep.simt.interpreter.loops import for_loop, tuple_loop, while_loop
from lockstep.simt.interpreter.scope import Body, Compound, Evaluate, Scope, Simple
from lockstep.simt.interpreter.targets import augmented_item, target
from lockstep.simt.lane_values import Value, select
from lockstep.simt.masks import NONE, Mask
from lockstep.simt.race_detection.spinning import deciding
from lockstep.simt.warp import Stop, Warp

Step = tuple[Any, bool]  # a statement, and whether it is a generator


def body(scope: Scope, statements: Sequence[ast.stmt]) -> Body:
    """Statements in sequence, for the lanes that are left."""
    steps = [statement(scope, single) for given in statements for single in hoisted(scope, given)]

    def run(warp: Warp, mask: Mask) -> Generator[Stop, Value, Mask]:
        for step, compound in steps:
            mask = (yield from step(warp, mask)) if compound else step(warp, mask)
            if not mask.count:
                break
        return mask

    return run


def statement(scope: Scope, node: ast.stmt) -> Step:
    """Raises KernelError, with the line, for a statement that no kernel can have."""
    simple = SIMPLE.get(type(node))
    if isinstance(node, ast.Expr | ast.Assign | ast.Return) and node.value is not None and stops(scope, node.value):
        assert isinstance(node.value, ast.Call)
        return _behind_barrier(scope, node, waiting(scope, node.value, expression)), True
    if simple is not None:
        return simple(scope, node), False
    if isinstance(node, ast.If):
        return _if(scope, node), True
    if isinstance(node, ast.While | ast.For):
        if node.orelse:
            raise scope.refuse(node, "the warp machine has no `else` of a loop.")
        return _loop(scope, node), True
    what = WORDS.get(type(node), f"`{ast.unparse(node).splitlines()[0]}`")
    raise scope.refuse(node, f"a kernel cannot use {what}.", "Kernels have assignments, if, for … in range and while.")


def _behind_barrier(scope: Scope, node: ast.Expr | ast.Assign | ast.Return, course: Waiting) -> Compound:
    """A statement that is nothing but a barrier, or the assignment of its result."""
    finish = _finish(scope, node)

    def run(warp: Warp, mask: Mask) -> Generator[Stop, Value, Mask]:
        value = yield from course(warp, mask)
        return finish(warp, mask, value)

    return run


def _finish(scope: Scope, node: ast.stmt) -> Callable[[Warp, Mask, Value], Mask]:
    """What is done with a value that is already there."""
    if isinstance(node, ast.Return):
        return _leave
    stores = [target(scope, one) for one in node.targets] if isinstance(node, ast.Assign) else []

    def finish(warp: Warp, mask: Mask, value: Value) -> Mask:
        for put in stores:
            put(warp, mask, value)
        return mask

    return finish


def _expression(scope: Scope, node: ast.Expr) -> Simple:
    if isinstance(node.value, ast.Constant):  # a docstring
        return lambda warp, mask: mask
    evaluate = expression(scope, node.value)

    def run(warp: Warp, mask: Mask) -> Mask:
        evaluate(warp, mask)
        return mask

    return run


def _assign(scope: Scope, node: ast.Assign | ast.AnnAssign) -> Simple:
    if node.value is None:
        return lambda warp, mask: mask
    evaluate = expression(scope, node.value)
    finish = _finish(scope, node if isinstance(node, ast.Assign) else ast.Assign([node.target], node.value))
    return lambda warp, mask: finish(warp, mask, evaluate(warp, mask))


def _augmented(scope: Scope, node: ast.AugAssign) -> Simple:
    """``x[i] += y``: a load, an operation and a store; the index is computed once."""
    if isinstance(node.target, ast.Subscript):
        return augmented_item(scope, node, node.target)
    name = node.target
    read = ast.copy_location(ast.Name(getattr(name, "id", ""), ast.Load()), name)
    both = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
    return _assign(scope, ast.copy_location(ast.Assign([name], both), node))


def _if(scope: Scope, node: ast.If) -> Compound:
    test, then, line = condition(scope, node.test), body(scope, node.body), scope.line(node)
    otherwise = body(scope, node.orelse) if node.orelse else None

    def run(warp: Warp, mask: Mask) -> Generator[Stop, Value, Mask]:
        yes, no = mask.split(test(warp, mask))
        if yes.count and no.count:
            line.divergences += 1
        if yes.count:
            yes = yield from then(warp, yes)
        if no.count and otherwise is not None:
            no = yield from otherwise(warp, no)
        return yes | no

    return run


def _loop(scope: Scope, node: ast.While | ast.For) -> Compound:
    line = scope.line(node)
    if isinstance(node, ast.While):
        return while_loop(line, condition(scope, node.test), body(scope, node.body), deciding(node))
    bounds, put, turn = node.iter, target(scope, node.target), body(scope, node.body)
    known = scope.known(bounds)
    if isinstance(bounds, ast.Tuple) or isinstance(known, tuple):
        return tuple_loop(line, put, expression(scope, bounds), turn)
    if not isinstance(bounds, ast.Call) or scope.known(bounds.func) is not range or not 1 <= len(bounds.args) <= 3:
        raise scope.refuse(node, "a kernel loops over a range or a tuple only.", "Write `for i in range(…):`.")
    return for_loop(line, put, [expression(scope, limit) for limit in bounds.args], turn)


def _return(scope: Scope, node: ast.Return) -> Simple:
    value: Evaluate = expression(scope, node.value) if node.value else lambda warp, mask: None
    return lambda warp, mask: _leave(warp, mask, value(warp, mask))


def _leave(warp: Warp, mask: Mask, value: Value) -> Mask:
    """These lanes have finished the kernel, or the device function."""
    frame = warp.frame
    frame.returned = value if frame.returned is None else select(mask, value, frame.returned)
    frame.alive = frame.alive.without(mask)
    return NONE


def _break(scope: Scope, node: ast.Break) -> Simple:
    def run(warp: Warp, mask: Mask) -> Mask:
        loop = warp.frame.loops[-1]
        loop.broken = loop.broken | mask
        return NONE

    return run


def _continue(scope: Scope, node: ast.Continue) -> Simple:
    def run(warp: Warp, mask: Mask) -> Mask:
        loop = warp.frame.loops[-1]
        loop.continued = loop.continued | mask
        return NONE

    return run


SIMPLE: dict[type[ast.AST], Callable[[Scope, Any], Simple]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _assign,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Pass: lambda scope, node: lambda warp, mask: mask,
}
WORDS: dict[type[ast.AST], str] = {
    ast.With: "`with`",
    ast.Try: "`try`",
    ast.Raise: "`raise`",
    ast.Assert: "`assert`",
    ast.Import: "`import`",
    ast.ImportFrom: "`import`",
    ast.FunctionDef: "a function inside of it",
    ast.ClassDef: "a class",
    ast.Delete: "`del`",
    ast.Global: "`global`",
    ast.Nonlocal: "`nonlocal`",
}
