"""Hooks that report the kinds of tensors: parameters of modules, optimizer state, tensors saved by autograd functions.

They are called when a parameter is registered with its module, in a module's forward, an optimizer's step,
``ctx.save_for_backward`` and ``UntypedStorage.resize_``. The hooks are global; each call goes to the memory account of
the calling rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.function import FunctionCtx
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_parameter_registration_hook,
)
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from lockstep.residency.live_storages import Residency


class Hooks:
    """A context in which the hooks are installed. ``book`` returns the memory account of the calling thread's rank, or
    None for a thread of no rank."""

    def __init__(self, book: Callable[[], Residency | None]) -> None:
        self._book = book

    def __enter__(self) -> Hooks:
        self._handles = [
            register_module_parameter_registration_hook(self._registered),
            register_module_forward_pre_hook(self._forward),
            register_module_forward_hook(self._after_forward, always_call=True),
            register_optimizer_step_pre_hook(self._begin_step),
            register_optimizer_step_post_hook(self._step),
        ]
        self._originals = FunctionCtx.save_for_backward, torch.UntypedStorage.resize_
        FunctionCtx.save_for_backward = self._saving(self._originals[0])  # type: ignore[method-assign]
        torch.UntypedStorage.resize_ = self._resizing(self._originals[1])  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: Any) -> None:
        FunctionCtx.save_for_backward, torch.UntypedStorage.resize_ = self._originals  # type: ignore[method-assign]
        for handle in self._handles:
            handle.remove()

    def _registered(self, _: torch.nn.Module, __: str, parameter: torch.nn.Parameter | None) -> None:
        if parameter is not None and (book := self._book()):
            book.owns(parameter)

    def _forward(self, module: torch.nn.Module, _: Any) -> None:
        if book := self._book():
            book.computes(module)

    def _after_forward(self, module: torch.nn.Module, *_: Any) -> None:
        if book := self._book():
            book.has_computed(module)

    def _begin_step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if book := self._book():
            book.begins_step(optimizer)

    def _step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if book := self._book():
            book.optimizes(optimizer)

    def _saving(self, save: Callable[..., None]) -> Callable[..., None]:
        def save_for_backward(context: Any, *tensors: Any) -> None:
            save(context, *tensors)
            if any(context.needs_input_grad) and (book := self._book()):
                book.saved(tensors)

        return save_for_backward

    def _resizing(self, resize: Callable[..., Any]) -> Callable[..., Any]:
        def resize_(storage: torch.UntypedStorage, size: int) -> Any:
            result = resize(storage, size)
            if book := self._book():
                book.resized(storage)
            return result

        return resize_
