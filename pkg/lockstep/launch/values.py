"""What a rank returns, as bytes that mean the same in another process: tensors as data, on the CPU."""

from __future__ import annotations

import io
from typing import Any

import cloudpickle
import torch

from lockstep.errors import UsageError


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
            return plain(value).__reduce_ex__(4)  # type: ignore[no-untyped-call]
        return super().reducer_override(value)


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """On the CPU, without its history, and without the rest of a storage that it is a small view of."""
    if hasattr(tensor, "trigger_wait"):  # what a functional collective returns
        tensor = tensor.trigger_wait()
    if type(tensor) is not torch.Tensor:
        advice = ": return its .to_local() or its .full_tensor()" if hasattr(tensor, "to_local") else ""
        raise TypeError(f"a {type(tensor).__name__} has no meaning outside its ranks{advice}")
    tensor = tensor.detach().cpu()
    if tensor.layout is torch.strided and tensor.untyped_storage().nbytes() > tensor.numel() * tensor.element_size():
        tensor = tensor.clone()
    return tensor


def dumps(value: Any) -> bytes:
    """Raises TypeError, in one sentence, for a value that cannot leave its process."""
    stream = io.BytesIO()
    try:
        _Pickler(stream).dump(value)
    except Exception as error:
        raise TypeError(f"the {type(value).__name__} that was returned cannot be sent back: {error}") from None
    return stream.getvalue()


def loads(blob: bytes) -> Any:
    """Raises UsageError for a value that can be sent, but not be opened again."""
    try:
        return cloudpickle.loads(blob)
    except Exception as error:
        raise UsageError(
            f"A value that was returned cannot be opened here: {type(error).__name__}: {error}.",
            "Return tensors, numbers, text, and lists or dicts of them.",
        ) from None
