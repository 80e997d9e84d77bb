"""Where a check's tensors live: on this rank's GPU under a launcher with NCCL, in the host's memory everywhere else.

    inputs(case, rank) ── CPU ──► arguments on cuda:LOCAL_RANK ──► the learner's function ──► CPU ──► the judge

Who makes tensors like the given ones (``torch.empty_like(tensor)``, ``device=tensor.device``) needs nothing else.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.utils._pytree import tree_any, tree_map

from lockstep.launch import joining
from lockstep.launch.job import INSIDE

HOST = torch.device("cpu")


def device_of_rank() -> torch.device:
    """The GPU of this rank, where a launcher has started no more ranks on its node than there are GPUs."""
    if os.environ.get(INSIDE) == "spmd" and joining.on_gpus(int(os.environ["LOCAL_WORLD_SIZE"])):
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return HOST


def holds_tensors(arguments: Any) -> bool:
    """Whether there is a tensor among ``arguments``, in lists, tuples and dicts, too."""
    return tree_any(lambda leaf: isinstance(leaf, torch.Tensor), arguments)


def moved(arguments: Any, device: torch.device) -> Any:
    """``arguments`` with each tensor, and all else that has a method ``to``, on ``device``: in lists, tuples and dicts,
    too. A tensor becomes a leaf of the graph, as the one that it is made from. A module without numbers, on the "meta"
    device, stays there. On the host: as they are."""
    if device == HOST:
        return arguments

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().to(device).requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.nn.Module) and any(p.is_meta for p in leaf.parameters()):
            return leaf
        return leaf.to(device) if hasattr(leaf, "to") else leaf

    return tree_map(move, arguments)
