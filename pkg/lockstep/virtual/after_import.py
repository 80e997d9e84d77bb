"""To change a module of torch when a program imports it, and not to import it for that.

Most runs never import DTensor, say, which takes longer than the run.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def after_import(name: str, act: Callable[[Any], object]) -> None:
    """Call ``act(module)`` with the module ``name``: now if it is loaded, or else as soon as it is. Once in a
    process."""
    if name in sys.modules:
        act(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Waiting(name, act))


class _Waiting(MetaPathFinder):
    """A finder that finds nothing by itself: it lets the others find ``name``, and acts when that has been executed."""

    def __init__(self, name: str, act: Callable[[Any], object]) -> None:
        self._name, self._act = name, act

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def executing(module: ModuleType) -> None:
                execute(module)
                self._act(module)

            setattr(spec.loader, "exec_module", executing)  # noqa: B010
        return spec
