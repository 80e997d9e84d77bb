"""The context in which one function is compiled: its source, and how to compile the device functions that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from lockstep.simt.errors import KernelError
from lockstep.simt.interpreter.kernel_source import Source
from lockstep.simt.lane_values import Value
from lockstep.simt.masks import Mask
from lockstep.simt.profile import LineCounts
from lockstep.simt.warp import Stop, Warp

Evaluate = Callable[[Warp, Mask], Value]  # an expression: its value in the mask's lanes
Simple = Callable[[Warp, Mask], Mask]  # a statement: the lanes that go on behind it
Compound = Callable[[Warp, Mask], Generator[Stop, Value, Mask]]  # one that may come to a barrier
Body = Compound


@dataclass(frozen=True)
class Device:
    """A compiled device function. ``waits``: it has a barrier."""

    name: str
    parameters: list[str]
    body: Body
    waits: bool


@dataclass(frozen=True)
class Scope:
    """The context of one function."""

    source: Source
    device: Callable[[FunctionType, ast.AST, Source], Device]

    def line(self, node: ast.AST) -> LineCounts:
        return self.source.line(node)

    def refuse(self, node: ast.AST, message: str, remedy: str = "") -> KernelError:
        return self.source.refuse(node, message, remedy)

    def known(self, node: ast.expr) -> Any:
        return self.source.known(node)


CompileExpression = Callable[[Scope, ast.expr], Evaluate]
