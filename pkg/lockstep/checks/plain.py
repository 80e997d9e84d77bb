"""Values as plain data: what ranks hand back to a check, and nothing that would have to be unpickled by a judge."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import torch

SAVED = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip


MOST = 1000  # items of a list
MOST_BITS = 10_000  # of an int: Python writes no more than 4,300 digits


@dataclass(frozen=True)
class Other:
    """A value that is not plain data: only its type and the start of its repr are kept."""

    type: str
    text: str = ""


def plain(value: Any, depth: int = 3) -> Any:
    """``value`` as None, bool, int, float, str, a tensor or a list of these; of a model its parameters and buffers; of
    a fraction or a decimal its float; anything else as `Other`."""
    if type(value) is int and value.bit_length() > MOST_BITS:
        return Other("int", "a number of more than 3,000 digits")
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, (Fraction, Decimal)):
        with suppress(OverflowError, ValueError):
            return float(value)
    if isinstance(value, str):
        return str.__str__(value)[:10_000]
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        return plain(value.tolist(), depth) if value.size <= MOST else Other(type(value).__name__)
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.dtype in SAVED:
        return value.detach() if value.device.type in ("cpu", "meta") else value.detach().cpu()
    if isinstance(value, torch.nn.Module):
        value = list(value.state_dict().values())
    if isinstance(value, (tuple, list)) and depth and len(value) <= MOST:
        return [plain(v, depth - 1) for v in value]
    return Other(type(value).__name__, _short_repr(value))


def _short_repr(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception:
        return "(its repr fails)"
