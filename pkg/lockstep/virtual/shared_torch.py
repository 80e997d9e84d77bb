"""What torch keeps once in a process although it belongs to a rank. Private API of torch, for 2.13 to 2.15.

loss_parallel    exchanges handlers in DTensor's one table when it is entered and takes them out when it is left: the
                 first rank to leave would take them from all others
torch.compile    looks into each Python function that runs while it does, and so into the clock, where it got lost
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from torch._C._dynamo import eval_frame

LOSS = "torch.distributed.tensor.parallel.loss"  # loads DTensor, which takes a second
Patch = Callable[[Any], None]  # of a module


def after_import(name: str, patch: Patch) -> None:
    """``patch`` the module, now if it has been loaded, or else as soon as it is."""
    if name in sys.modules:
        patch(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Patching(name, patch))


class _Patching(MetaPathFinder):
    """Finds one module where Python does, and patches it when it has been executed."""

    def __init__(self, name: str, patch: Patch) -> None:
        self._name, self._patch = name, patch

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == self._name else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_patch(module: ModuleType) -> None:
            execute(module)
            self._patch(module)

        setattr(spec.loader, "exec_module", execute_and_patch)  # noqa: B010
        return spec


def count_loss_parallel(loss: Any) -> None:
    """Keep the handlers of ``loss_parallel`` until the last rank has left it."""
    enable: Callable[[], None] = loss._enable_custom_loss_ops
    disable: Callable[[], None] = loss._disable_custom_loss_ops
    inside = [0]

    def enter() -> None:
        inside[0] += 1
        enable()

    def leave() -> None:
        inside[0] -= 1
        if not inside[0]:
            disable()

    setattr(loss, "_enable_custom_loss_ops", enter)  # noqa: B010
    setattr(loss, "_disable_custom_loss_ops", leave)  # noqa: B010


def hide_from_compiler(*functions: Any) -> None:
    """Let torch.compile pass over these functions and all that they call."""
    if not hasattr(eval_frame, "set_code_exec_strategy"):
        return
    skip = eval_frame._FrameAction.SKIP
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))
