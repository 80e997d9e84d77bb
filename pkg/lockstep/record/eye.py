"""What the Recorder sees with: a dispatch mode, which torch asks before it carries out an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from lockstep.record.recorder import Recorder


class Eye(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Shows the operations of one thread to the Recorder."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if types and (special := [t for t in types if t.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__]):
            if any(t.__name__ == "FakeTensor" for t in special):  # DTensor asks for shapes
                return func(*args, **(kwargs or {}))
            self._recorder.residency.foresee(func, args)
            return NotImplemented  # a DTensor or the like: what it does inside comes here again
        return self._recorder.see(func, args, kwargs or {})
