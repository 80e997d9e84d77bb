"""A kernel, ready to run: compiled once for a launch, with every device function that it calls."""

from __future__ import annotations

import ast
from types import FunctionType

from lockstep.simt.interpreter.barriers import waits
from lockstep.simt.interpreter.kernel_source import Source, plain_function
from lockstep.simt.interpreter.scope import Body, Device, Scope
from lockstep.simt.interpreter.statements import body
from lockstep.simt.profile import LineCounts


class Program:
    """Raises KernelError for what no kernel can be."""

    def __init__(self, kernel: object) -> None:
        self._devices: dict[FunctionType, Device] = {}
        self._open: list[FunctionType] = []
        self.source = Source(plain_function(kernel))
        self._sources = [self.source]
        self.body: Body = body(Scope(self.source, self._device), self.source.tree.body)

    def lines(self) -> list[LineCounts]:
        """The kernel's lines, then those of its device functions."""
        return [line for source in self._sources for line in source.lines.values()]

    def _device(self, function: FunctionType, node: ast.AST, caller: Source) -> Device:
        if function in self._open:
            raise caller.refuse(node, f"{function.__name__} calls itself, and the warp machine has no recursion.")
        if function not in self._devices:
            self._open.append(function)
            self._devices[function] = self._compiled(Source(function, device=True))
            self._open.pop()
        return self._devices[function]

    def _compiled(self, source: Source) -> Device:
        self._sources.append(source)
        scope = Scope(source, self._device)
        waiting = any(waits(scope, part) for part in ast.walk(source.tree))
        return Device(source.name, source.parameters, body(scope, source.tree.body), waiting)
