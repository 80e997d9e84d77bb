"""What belongs to whom: modules know their parameters, optimizers their state, storages when they are resized.

All three are asked at points that a learner's code passes anyway: a module's forward, an optimizer's step,
``UntypedStorage.resize_``. The hooks hold for the whole process; each call goes to the book of the rank that makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook

from lockstep.residency.book import Residency


class Hooks:
    """While entered, tells ``book()`` what belongs to modules and optimizers, and which storages change their size.
    ``book`` gives the book of the calling thread's rank, or None for a thread of no rank."""

    def __init__(self, book: Callable[[], Residency | None]) -> None:
        self._book = book

    def __enter__(self) -> Hooks:
        self._handles = [
            register_module_forward_pre_hook(self._forward),
            register_optimizer_step_post_hook(self._step),
        ]
        self._resize = torch.UntypedStorage.resize_
        torch.UntypedStorage.resize_ = self._resizing(self._resize)  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: Any) -> None:
        torch.UntypedStorage.resize_ = self._resize  # type: ignore[method-assign]
        for handle in self._handles:
            handle.remove()

    def _forward(self, module: torch.nn.Module, _: Any) -> None:
        if book := self._book():
            book.belongs(module)

    def _step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if book := self._book():
            book.optimizes(optimizer)

    def _resizing(self, resize: Callable[..., Any]) -> Callable[..., Any]:
        def resize_(storage: torch.UntypedStorage, size: int) -> Any:
            result = resize(storage, size)
            if book := self._book():
                book.resized(storage)
            return result

        return resize_
