"""Callbacks of Futures (``then``, ``add_done_callback``), which run in threads of the backend, without the rank's
dispatch mode. Communication hooks of DDP such as PowerSGD's communicate there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

NAMES = ("then", "add_done_callback")


class Callbacks:
    """A context in which callbacks run under the dispatch mode ``mode()``, of class ``kind``, unless one is active."""

    def __init__(self, kind: type, mode: Callable[[], AbstractContextManager[Any]]) -> None:
        self._kind, self._mode = kind, mode

    def __enter__(self) -> Callbacks:
        self._originals = {name: getattr(torch._C.Future, name) for name in NAMES}
        for name, original in self._originals.items():
            setattr(torch._C.Future, name, self._watching(original))
        return self

    def __exit__(self, *error: Any) -> None:
        for name, original in self._originals.items():
            setattr(torch._C.Future, name, original)

    def _watching(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def register(future: Any, callback: Callable[[Any], Any]) -> Any:
            return original(future, lambda settled: self._call(callback, settled))

        return register

    def _call(self, callback: Callable[[Any], Any], settled: Any) -> Any:
        if any(isinstance(mode, self._kind) for mode in _get_current_dispatch_mode_stack()):
            return callback(settled)
        with self._mode():
            return callback(settled)
