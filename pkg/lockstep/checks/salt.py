"""``hash`` of text and bytes as in processes that were started apart: with another secret in each.

The ranks of a check share a process or were forked from one, and with it Python's secret. Those of a launcher do not: a
program that compares such numbers between ranks works here by luck, and there never."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import torch.distributed as dist

from lockstep.checks.load import FromFile


def salt(fn: Callable[..., Any]) -> None:
    """``fn``, and the other functions of its module, hash as this rank does."""
    own = fn.function() if isinstance(fn, FromFile) else fn
    getattr(own, "__globals__", {}).setdefault("hash", hash_of_rank)


def hash_of_rank(value: Any) -> int:
    """``hash(value)``, and of text and bytes, in tuples too, another one on each rank."""
    if isinstance(value, tuple):
        return builtins.hash(tuple(map(hash_of_rank, value)))
    return builtins.hash((dist.get_rank(), value) if isinstance(value, (str, bytes)) else value)
