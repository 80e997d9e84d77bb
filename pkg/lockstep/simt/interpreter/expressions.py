"""Expressions of a kernel: each becomes a function of a warp and a mask, once, before the kernel runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.simt.interpreter.calls import call
from lockstep.simt.interpreter.names import attribute, name, outside
from lockstep.simt.interpreter.scope import Evaluate, Scope
from lockstep.simt.interpreter.subscripts import subscript
from lockstep.simt.lane_values import BINARY, COMPARISONS, UNARY, Operation, Value, select, truth, typed
from lockstep.simt.masks import Mask
from lockstep.simt.warp import Warp


def expression(scope: Scope, node: ast.expr) -> Evaluate:
    """Raises KernelError, with the line, for Python that no kernel can use."""
    compiler = COMPILERS.get(type(node))
    if compiler is None:
        what = WORDS.get(type(node), f"`{ast.unparse(node)}`")
        raise scope.refuse(node, f"a kernel cannot use {what}.", "Kernels have numbers, arrays and tuples only.")
    return compiler(scope, node)


def condition(scope: Scope, node: ast.expr) -> Evaluate:
    """An expression as an ``if`` sees it: one bool, or one for each lane."""
    evaluate = expression(scope, node)
    return lambda warp, mask: _holds(scope, node, evaluate(warp, mask))


def _holds(scope: Scope, node: ast.expr, value: Value) -> Value:
    if not hasattr(value, "dtype"):
        raise scope.refuse(node, f"{ast.unparse(node)} is neither true nor false: it is no number.")
    return truth(value)


def _constant(scope: Scope, node: ast.Constant) -> Evaluate:
    if not isinstance(node.value, bool | int | float):
        raise scope.refuse(
            node, f"a kernel cannot use {node.value!r}.", "Kernels have numbers, arrays and tuples only."
        )
    value = typed(node.value)
    return lambda warp, mask: value


def _binary(scope: Scope, node: ast.BinOp) -> Evaluate:
    if type(node.op).__name__ not in BINARY:
        raise scope.refuse(node, "the warp machine has no @.", "Write the product as a loop.")
    return operation(scope, node, node.op, expression(scope, node.left), expression(scope, node.right))


def operation(scope: Scope, node: ast.AST, operator: ast.operator, left: Evaluate, right: Evaluate) -> Evaluate:
    line, apply = scope.line(node), BINARY[type(operator).__name__]

    def evaluate(warp: Warp, mask: Mask) -> Value:
        first = left(warp, mask)
        second = right(warp, mask)
        warp.issue(line, mask)
        try:
            value = apply(first, second)
        except (AttributeError, TypeError):
            raise scope.refuse(node, f"{ast.unparse(node)} is no arithmetic of numbers.") from None
        if value.dtype.char == "d":
            line.double_precision += 1
        return value

    return evaluate


def _compare(scope: Scope, node: ast.Compare) -> Evaluate:
    names = [type(operator).__name__ for operator in node.ops]
    if not set(names) <= set(COMPARISONS):
        raise scope.refuse(
            node, f"a kernel cannot use `{ast.unparse(node)}`.", "Compare numbers with <, ==, and so on."
        )
    parts = [expression(scope, part) for part in [node.left, *node.comparators]]
    line, operations = scope.line(node), [_numbers_only(scope, node, COMPARISONS[name]) for name in names]
    if len(parts) == 2:
        return _compare_two(parts[0], operations[0], parts[1], line)

    def evaluate(warp: Warp, mask: Mask) -> Value:
        left, result = parts[0](warp, mask), np.bool_(True)
        for compare, part in zip(operations, parts[1:], strict=True):
            right = part(warp, mask)
            warp.issue(line, mask)
            result = result & compare(left, right)
            left = right
        return result

    return evaluate


def _numbers_only(scope: Scope, node: ast.expr, function: Callable[..., Value]) -> Callable[..., Value]:
    def apply(*values: Value) -> Value:
        try:
            return function(*values)
        except (AttributeError, TypeError):
            raise scope.refuse(node, f"{ast.unparse(node)} needs numbers.") from None

    return apply


def _compare_two(left: Evaluate, compare: Operation, right: Evaluate, line: Any) -> Evaluate:
    def evaluate(warp: Warp, mask: Mask) -> Value:
        first = left(warp, mask)
        second = right(warp, mask)
        warp.issue(line, mask)
        return compare(first, second)

    return evaluate


def _bool(scope: Scope, node: ast.BoolOp) -> Evaluate:
    """A lane that knows the answer sits out the rest."""
    parts = [expression(scope, part) for part in node.values]
    goes_on = isinstance(node.op, ast.And)

    def evaluate(warp: Warp, mask: Mask) -> Value:
        value = parts[0](warp, mask)
        for part in parts[1:]:
            yes, no = mask.split(_holds(scope, node, value))
            mask_of_rest = yes if goes_on else no
            if not mask_of_rest.count:
                return value
            value = _merged(mask, mask_of_rest, part(warp, mask_of_rest), value)
        return value

    return evaluate


def _merged(mask: Mask, chosen: Mask, value: Value, other: Value) -> Value:
    return value if chosen.count == mask.count else select(chosen, value, other)


def _unary(scope: Scope, node: ast.UnaryOp) -> Evaluate:
    if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return outside(scope, node, scope.known(node))
    line, operand = scope.line(node), expression(scope, node.operand)
    apply = _numbers_only(scope, node, UNARY[type(node.op).__name__])

    def evaluate(warp: Warp, mask: Mask) -> Value:
        value = operand(warp, mask)
        warp.issue(line, mask)
        return apply(value)

    return evaluate


def _conditional(scope: Scope, node: ast.IfExp) -> Evaluate:
    test, chosen, other = condition(scope, node.test), expression(scope, node.body), expression(scope, node.orelse)
    line = scope.line(node)

    def evaluate(warp: Warp, mask: Mask) -> Value:
        yes, no = mask.split(test(warp, mask))
        if not no.count:
            return chosen(warp, mask)
        if not yes.count:
            return other(warp, mask)
        line.divergences += 1
        return select(yes, chosen(warp, yes), other(warp, no))

    return evaluate


def _tuple(scope: Scope, node: ast.Tuple) -> Evaluate:
    items = [expression(scope, item) for item in node.elts]
    if len(items) == 2:  # most are the indices of a matrix
        first, second = items
        return lambda warp, mask: (first(warp, mask), second(warp, mask))
    return lambda warp, mask: tuple(item(warp, mask) for item in items)


def _call(scope: Scope, node: ast.Call) -> Evaluate:
    return call(scope, node, expression)


COMPILERS: dict[type[ast.AST], Callable[[Scope, Any], Evaluate]] = {
    ast.Constant: _constant,
    ast.Name: name,
    ast.Attribute: lambda scope, node: attribute(scope, node, expression),
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.UnaryOp: _unary,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.Subscript: lambda scope, node: subscript(scope, node, expression),
    ast.Call: _call,
}
WORDS: dict[type[ast.AST], str] = {
    ast.List: "a list",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.ListComp: "a list comprehension",
    ast.GeneratorExp: "a generator",
    ast.DictComp: "a dict comprehension",
    ast.SetComp: "a set comprehension",
    ast.Lambda: "a lambda",
    ast.JoinedStr: "a string",
    ast.NamedExpr: ":=",
    ast.Starred: "* in front of a value",
}
