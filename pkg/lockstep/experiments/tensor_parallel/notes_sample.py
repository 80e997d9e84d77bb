"""The notes' sample for Megatron-LM, run with this course's parts; and Megatron Core's names for them.

    the sample      1 initialize_megatron(...)                     groups are made here, from the arguments as they are
                    2 args.tensor_model_parallel_size = 2          too late: nothing reads this any more
                    3 GPTModel(...)

    Megatron Core   parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
                    GPTModel(TransformerConfig(num_layers=24, hidden_size=1024, num_attention_heads=16), ...)

Where 1 makes its groups: ``initialize_megatron`` ends in ``mpu.initialize_model_parallel(
args.tensor_model_parallel_size, ...)`` (NVIDIA/Megatron-LM, megatron/training/initialize.py, 00c2c0a).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch.distributed as dist

from lockstep.models import GPT, gpt_layers, parameters_of
from lockstep.tables import Table, published
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.transformer import ParallelGPT
from lockstep.worlds import run

RANKS = 2
SIZES: dict[str, Any] = {"vocabulary": 128, "width": 64, "heads": 4, "layers": 2, "context": 16}


@dataclass
class Arguments:
    """Megatron's arguments, as far as the sample uses them."""

    tensor_model_parallel_size: int = 1


def initialized(arguments: Arguments) -> Group:
    """This rank's group, of as many neighbours as the arguments say now."""
    size, mine = arguments.tensor_model_parallel_size, None
    for first in range(0, dist.get_world_size(), size):
        ranks = list(range(first, first + size))
        group: Group = dist.new_group(ranks)
        mine = group if dist.get_rank() in ranks else mine
    return mine


def built(told_first: bool) -> int:
    """On a rank: the parameters that it holds. ``told_first``: the arguments say 2 before groups are made."""
    arguments = Arguments()
    if told_first:
        arguments.tensor_model_parallel_size = RANKS
    group = initialized(arguments)  # 1
    arguments.tensor_model_parallel_size = RANKS  # 2
    return parameters_of(ParallelGPT(gpt_layers(**SIZES), group))  # 3


def sample() -> tuple[float, float]:
    """Which share of a small GPT each of two ranks holds: by the sample's order, and where groups come last."""
    whole = parameters_of(GPT(**SIZES))
    late, early = (max(run(built, first, ranks=RANKS, on="dgx-a100").values) / whole for first in (False, True))
    return late, early


def where(name: str) -> str:
    """The module of Megatron Core's wheel that defines this name; "" for none."""
    (found,) = (
        row["where"] for row in published("experiments/tensor_parallel", "megatron_names.csv") if row["name"] == name
    )
    return found


def names_table() -> Table:
    rows = [
        [row["ours"] or "–", row["name"], row["where"] or "not in the wheel"]
        for row in published("experiments/tensor_parallel", "megatron_names.csv")
    ]
    return Table("Names of Megatron Core, in its wheel 0.16.1", ["this course", "Megatron", "where"], rows)
