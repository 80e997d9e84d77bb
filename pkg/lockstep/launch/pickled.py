"""Pickling of the arguments and the results of ranks.

packed(value)    for arguments: as cloudpickle, with tensors in a fifth of the time
dumps(value)     for results: tensors as plain data on the CPU
"""

from __future__ import annotations

import io
from typing import Any

import cloudpickle
import torch

from lockstep.comm import exits
from lockstep.errors import RankRaised


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles a simple tensor as its bytes, of which torch would write an archive."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is torch.Tensor and is_simple(value):
            numbers = value.detach().reshape(-1).view(torch.uint8).numpy().tobytes()
            return tensor_of, (numbers, value.dtype, tuple(value.shape), value.requires_grad)
        return super().reducer_override(value)


def is_simple(tensor: torch.Tensor) -> bool:
    """Whether a tensor covers its CPU storage in order, and has no autograd history, hooks or attributes."""
    if tensor.layout is not torch.strided or tensor.device.type != "cpu" or not tensor.is_leaf or not tensor.numel():
        return False
    whole = tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    plain = not (tensor.is_quantized or tensor.is_complex() or tensor.is_neg() or tensor.is_inference())
    return whole and plain and not vars(tensor) and tensor.grad is None and not tensor._backward_hooks


def tensor_of(numbers: bytes, dtype: torch.dtype, shape: tuple[int, ...], requires_grad: bool) -> torch.Tensor:
    """The tensor of a pickle, copied to torch's own memory, which is aligned."""
    tensor = torch.frombuffer(bytearray(numbers), dtype=torch.uint8).clone()
    return tensor.view(dtype).view(shape).requires_grad_(requires_grad)


def packed(value: Any) -> bytes:
    """The pickle of an argument. Raises the error of any part that cannot be pickled."""
    stream = io.BytesIO()
    _Packer(stream).dump(value)
    return stream.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
            return plain(value).__reduce_ex__(4)  # type: ignore[no-untyped-call]
        return super().reducer_override(value)


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """A detached copy on the CPU, without the rest of its storage. Raises TypeError for DTensors and the like."""
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
    """The pickle of a result. Raises TypeError if it cannot be pickled."""
    stream = io.BytesIO()
    try:
        _Pickler(stream).dump(value)
    except Exception as error:
        raise TypeError(f"the {type(value).__name__} that was returned cannot be sent back: {error}") from None
    return stream.getvalue()


def loads(blob: bytes, rank: int) -> Any:
    """The value of a pickle that ``rank`` has returned. Raises RankRaised if it cannot be unpickled here: that calls
    the learner's code, which may even raise SystemExit."""
    try:
        return cloudpickle.loads(blob)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        end = exits.raised(rank, error)
        raise RankRaised(
            f"What rank {rank} has returned cannot be opened here: {exits.reason(end)}.",
            remedy="Return tensors, numbers, text, and lists or dicts of them.",
            exit=end,
        ) from None
