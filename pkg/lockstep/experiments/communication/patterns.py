"""patterns(): the tensors of every rank before and after each collective of torch.distributed, from a run of all."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.tables import Table
from lockstep.worlds import run


def patterns(ranks: int = 3) -> Table:
    """A row for each collective, a column for each rank. Rank r begins with ``ranks`` numbers: 10(r + 1), 10(r + 1) + 1
    ..."""
    columns = run(_patterns, ranks=ranks, on="laptop").values
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return Table(f"What each of {ranks} ranks has", ["", *(f"rank {r}" for r in range(ranks))], rows)


def _patterns() -> dict[str, str]:
    r, K = dist.get_rank(), dist.get_world_size()

    def mine() -> Tensor:
        return torch.arange(K) + 10 * (r + 1)

    def room(numel: int) -> Tensor:
        return torch.empty(numel, dtype=torch.long)

    has = {"before": mine(), "broadcast from 0": mine(), "reduce to 0": mine(), "all-reduce": mine()}
    dist.broadcast(has["broadcast from 0"], src=0)
    dist.reduce(has["reduce to 0"], dst=0)
    dist.all_reduce(has["all-reduce"])

    has["scatter from 0"] = room(1)
    dist.scatter(has["scatter from 0"], list(mine().tensor_split(K)) if r == 0 else None, src=0)
    gathered = [room(K) for _ in range(K)]
    dist.gather(mine(), gathered if r == 0 else None, dst=0)
    has["gather to 0"] = torch.cat(gathered)

    has["all-gather"], has["reduce-scatter"], has["all-to-all"] = room(K * K), room(1), room(K)
    dist.all_gather_into_tensor(has["all-gather"], mine())
    dist.reduce_scatter_tensor(has["reduce-scatter"], mine())
    dist.all_to_all_single(has["all-to-all"], mine())
    only_root = {} if r == 0 else {"reduce to 0": "–", "gather to 0": "–"}
    return {name: " ".join(map(str, x.tolist())) for name, x in has.items()} | only_root
