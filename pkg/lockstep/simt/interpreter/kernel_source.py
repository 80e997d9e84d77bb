"""The source of a kernel: its lines, the names that it uses, and what is known about them before it runs."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from types import FunctionType, ModuleType
from typing import Any

from lockstep.simt.errors import KernelError
from lockstep.simt.profile import LineCounts


class Unknown:
    """The type of UNKNOWN, in place of a value that only the running kernel has."""


UNKNOWN = Unknown()


def plain_function(kernel: object) -> FunctionType:
    """The Python function inside of ``@cuda.jit``. Raises KernelError for anything else."""
    function = getattr(kernel, "py_func", kernel)
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise KernelError(f"{kernel!r} is no kernel.", "Pass a function that is written with def and @cuda.jit.")
    return function


class Source:
    """The source of one function as a syntax tree, with the line numbers of its file or cell."""

    def __init__(self, function: FunctionType, device: bool = False) -> None:
        self.function = function
        self.name = function.__name__
        try:
            text, first = inspect.getsourcelines(function)
            self.tree = _definition(textwrap.dedent("".join(text)), self.name)
        except (OSError, TypeError, LookupError):
            remedy = "Define it with def, in a notebook's cell or in a file."
            raise KernelError(f"The source of {self.name} cannot be read.", remedy) from None
        self.before = first - 1  # lines of the file before the first one of ``tree``
        start = self.tree.lineno - 1
        wanted = [n for n in range(start, len(text)) if n not in _docstring(self.tree)]
        label = self.name if device else ""
        self.lines = {first + n: LineCounts(first + n, text[n].rstrip(), label) for n in wanted}
        self.parameters = _parameters(self.tree)
        self.locals = {*self.parameters, *_assigned(self.tree)}
        self._captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def line(self, node: ast.AST) -> LineCounts:
        """The line that an operation is counted for: the one on which its expression begins."""
        return self.lines[self.before + getattr(node, "lineno", 1)]

    def refuse(self, node: ast.AST, message: str, remedy: str = "") -> KernelError:
        return self.line(node).refuse(message, remedy)

    def known(self, node: ast.expr) -> Any:
        """The value of an expression before the kernel runs: a module, a function, a constant; or UNKNOWN."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return UNKNOWN if node.id in self.locals else self._outside(node)
        if isinstance(node, ast.Attribute):
            owner = self.known(node.value)
            return self._attribute(node, owner) if isinstance(owner, ModuleType | type) else UNKNOWN
        if isinstance(node, ast.Tuple):
            items = tuple(self.known(item) for item in node.elts)
            return UNKNOWN if UNKNOWN in items else items
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return self._folded(node)
        return UNKNOWN

    def may_write(self, name: str, axes: int) -> bool:
        """Whether the array ``name`` is used for anything but reading single items, its shape and its length."""
        harmless: set[ast.AST] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                single = len(indices) == axes and not any(isinstance(index, ast.Slice) for index in indices)
                harmless |= {node.value} if single else set()
            elif isinstance(node, ast.Attribute):
                harmless.add(node.value)
            elif isinstance(node, ast.Call) and self.known(node.func) is len:
                harmless |= set(node.args)
        uses = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node.id == name]
        return not harmless.issuperset(uses)

    def _outside(self, node: ast.Name) -> Any:
        if node.id in self._captured:
            try:
                return self._captured[node.id].cell_contents
            except ValueError:
                raise self.refuse(node, f"{node.id} has no value yet.") from None
        names = self.function.__globals__
        if node.id in names:
            return names[node.id]
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        raise self.refuse(node, f"the name {node.id} is not defined.")

    def _attribute(self, node: ast.Attribute, owner: Any) -> Any:
        try:
            return getattr(owner, node.attr)
        except AttributeError:
            raise self.refuse(node, f"{ast.unparse(node.value)} has no {node.attr}.") from None

    def _folded(self, node: ast.BinOp | ast.UnaryOp) -> Any:
        """Arithmetic on constants alone, as in ``2 * TILE``."""
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        values = [self.known(part) for part in parts]
        if not all(isinstance(value, int | float) for value in values):
            return UNKNOWN
        names = {f"v{n}": value for n, value in enumerate(values)}
        name = [ast.Name(id=key, ctx=ast.Load()) for key in names]
        folded = ast.BinOp(name[0], node.op, name[1]) if isinstance(node, ast.BinOp) else ast.UnaryOp(node.op, name[0])
        code = compile(ast.fix_missing_locations(ast.Expression(folded)), self.name, "eval")
        try:
            return eval(code, {}, names)  # only this one operator, on numbers
        except ArithmeticError as error:
            raise self.refuse(node, f"{ast.unparse(node)}: {error}.") from None


def _definition(text: str, name: str) -> ast.FunctionDef:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise LookupError(name)  # what Python 3.13 finds for a function made by exec is another text


def _docstring(tree: ast.FunctionDef) -> range:
    """The lines of the docstring, counted from 0 at the first line of the text."""
    first = tree.body[0]
    here = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return range(first.lineno - 1, first.end_lineno or first.lineno) if here else range(0)


def _parameters(tree: ast.FunctionDef) -> list[str]:
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise KernelError(f"{tree.name} has optional parameters.", "A kernel takes plain positional parameters only.")
    return [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]


def _assigned(tree: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
