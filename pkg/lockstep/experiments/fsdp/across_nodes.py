"""Traffic between nodes with full replication, full sharding and hybrid sharding: the FSDP paper's formulas and traces.

    M       bytes of all parameters
    W, G    ranks, and ranks in a node; H = W/G nodes

                          the paper, between nodes     here: groups beyond a node    groups within one
    full replication      2·M·(W-1)/W                  2·M·(W-1)/W
    full sharding         3·M·(W-1)/W                  3·M·(W-1)/W
    hybrid sharding       2·M·(W-1)/(G·W)              2·(M/G)·(H-1)/H               3·M·(G-1)/G

The paper counts all traffic of a group that spans nodes as traffic between nodes, which is the worst case, and so does
this module. Source: Zhao et al., PyTorch FSDP, arXiv:2304.11277, section 3.2.2 (``data/fsdp_and_zero_offload.csv``).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from lockstep.cost.sharding import published_across
from lockstep.datasets import library_text, text_batch
from lockstep.events import Event, Trace
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.models import GPT, gpt_layers, next_token_loss
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.hybrid import HybridSharded, node_groups
from lockstep.sharded.model_states import NUMBERS
from lockstep.sharded.zero import Zero
from lockstep.tables import Table
from lockstep.worlds import run

W, G = 8, 2
M = 4 * NUMBERS  # float32
SCHEMES = ("full replication", "full sharding", "hybrid sharding")


def step(scheme: str, x: Tensor, y: Tensor) -> None:
    """On a rank: a forward and a backward pass with all their communication."""
    if scheme == SCHEMES[0]:
        model: torch.nn.Module = Zero(GPT(), torch.optim.Adam, stage=0)
    elif scheme == SCHEMES[1]:
        model = FullySharded(gpt_layers())
    else:
        inside, across = node_groups(G)
        model = HybridSharded(gpt_layers(), inside=inside, across=across)
    next_token_loss(model(x), y).backward()  # type: ignore[no-untyped-call]


def counted(scheme: str) -> tuple[float, float]:
    """Bytes that rank 0 sends in groups that span nodes, and in groups within its node."""
    trace = run(step, scheme, *text_batch(library_text(10_000), 1, 8), ranks=W, on="dgx-a100").trace
    beyond = [e for e in trace if len({rank // G for rank in e.group}) > 1]
    within = [e for e in trace if len({rank // G for rank in e.group}) == 1]
    return _sent(beyond), _sent(within)


def _sent(events: Iterable[Event]) -> float:
    return through_a_port(Trace.of(events, W))


def across_table() -> Table:
    """The three formulas and the traces in units of M, on 4 nodes of 2 ranks."""
    rows = []
    for scheme, paper in published_across(M, W, G).items():
        beyond, within = counted(scheme)
        rows.append([scheme, *(f"{nbytes / M:.4g} M" for nbytes in (paper, beyond, within))])
    head = ["", "the paper, between nodes", "groups that span nodes", "groups within a node"]
    return Table(f"What a rank sends in a step: {W} ranks in nodes of {G}, from traces", head, rows)
