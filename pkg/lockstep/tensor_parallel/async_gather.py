"""An all-gather and the product after it, at the same time: shards go round a ring, and each is multiplied while the
next one travels.

    X = [X_0; X_1; ...]   rank r has the rows X_r, and its own columns A of a matrix; it needs Y = X·A

    rank 1 of 3   link       ├── X_2 ──┤├── X_0 ──┤             (1) post the messages of this step
                  compute    ├ X_1·A ┤  ├ X_2·A ┤  ├ X_0·A ┤    (2) multiply what is there  (3) wait

An all-gather has to end before its product begins. Here K - 1 transfers hide behind the first K - 1 of K products: all
of them, if a shard is multiplied in more time than it travels. The bytes are those of an all-gather, and each rank's
FLOP those of the one product; a product of fewer rows may run at a lower rate, which the virtual cluster's roofline
knows of small ones only.

Source: Wang et al., "Overlap Communication with Dependent Computation via Decomposition in Large Deep Learning Models",
ASPLOS 2023. PyTorch's asynchronous tensor parallelism (discuss.pytorch.org/t/209487) decomposes in the same way; its
shards are copied from their owners, all of which a rank can reach at once by NVLink, and not passed on. The authors
measured a forward pass faster by up to 29 %, and training by up to 8 % (Llama 3, 7B).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.machines import Cluster
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.across_nodes import nodes_of
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.worlds import run


def async_gather_matmul(x: Tensor, A: Tensor, group: Group = None) -> Tensor:
    """Y = X·A, (K·n, m), for the rows ``x`` (n, h) of this rank, as many on each, and its own ``A`` (h, m)."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shard, y = x.contiguous(), x.new_empty(K, len(x), A.shape[1])
    for step in range(K):
        coming, under_way = torch.empty_like(shard), []
        if step < K - 1:  # (1) as one batch: NCCL would else carry them out in the order in which they were posted
            to_left = dist.P2POp(dist.isend, shard, group=group, group_peer=(r - 1) % K)
            from_right = dist.P2POp(dist.irecv, coming, group=group, group_peer=(r + 1) % K)
            under_way = dist.batch_isend_irecv([to_left, from_right])
        torch.matmul(shard, A, out=y[(r + step) % K])  # (2)
        for work in under_way:
            work.wait()  # (3)
        shard = coming
    return y.flatten(0, 1)


def gather_then_matmul(x: Tensor, A: Tensor, group: Group = None) -> Tensor:
    """The same by an all-gather, and a product after it."""
    whole = x.new_empty(dist.get_world_size(group) * len(x), x.shape[1])
    dist.all_gather_into_tensor(whole, x.contiguous(), group=group)
    return whole @ A


# ---- how much time it saves


def passed(way: Callable[..., Tensor], n: int, h: int, m: int) -> float:
    """On a rank: seconds of such a product in bfloat16."""
    x, A = torch.ones(n, h, dtype=torch.bfloat16), torch.ones(h, m, dtype=torch.bfloat16)
    begin = time.perf_counter()
    way(x, A)
    return time.perf_counter() - begin


def seconds(way: Callable[..., Tensor], on: Cluster, ranks: int = 8, T: int = 2048, h: int = 12288) -> float:
    """Of the first product of GPT-3's MLP, h to 4h, for T tokens, on the slowest of so many ranks."""
    done = run(passed, way, T // ranks, h, 4 * h // ranks, ranks=ranks, on=on, fake=True)
    return float(max(done.values))


def gather_table(ranks: int = 8, nodes: Sequence[int] = (8, 1)) -> Table:
    """Both ways, by the number of ranks in a node."""
    rows = []
    for per_node in counted(nodes, "Simulating", each=1.0):
        first, ring = (seconds(way, nodes_of(per_node), ranks) for way in (gather_then_matmul, async_gather_matmul))
        rows.append([str(per_node), f"{1e3 * first:.2f}", f"{1e3 * ring:.2f}", f"{first / ring:.2f}"])
    head = ["ranks in a node", "all-gather, then product, ms", "shard by shard, ms", "times as fast"]
    return Table(f"The first product of GPT-3's MLP, 2,048 tokens, bfloat16, on {ranks} A100", head, rows)
