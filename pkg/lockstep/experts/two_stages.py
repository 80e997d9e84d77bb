"""Tokens between nodes: a gate that reaches few nodes, and a dispatch that crosses to each of them once.

    K ranks in nodes of G; each has E/K experts, a node a stretch of E·G/K         T, k   tokens; choices of each

    (1) node-limited   a token may go to M nodes: those in which its k/M best experts have the largest sum of s + b;
                       its k choices are the best experts of these nodes
    (2) straight       each choice is a row for its expert's rank: T·k rows, many of them over the network
    (3) in two stages  over the network once for each node, to the rank there with the same place in its node,
                       and from it, inside the node, once to each rank that has one of the token's experts

             network              NVLink
    0.2  ─────────────>  1.2  ─┬─────────> 1.0             a token of rank 2 in node 0, two of whose experts are on
                               └─────────> 1.5             ranks 0 and 5 of node 1: one row crosses, not two

Sources: "DeepSeek-V3 Technical Report", arXiv:2412.19437: "we limit each token to be dispatched to at most 4 nodes";
tokens go "via IB to the GPUs with the same in-node index on its target nodes", and are forwarded via NVLink. (1) is
``class Gate`` of ``inference/model.py`` in deepseek-ai/DeepSeek-V3 at 013e221. (3) is what deepseek-ai/DeepEP's kernels
do without a stop between the stages: each token is forwarded as soon as it is there, and what travels is float8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.errors import UsageError
from lockstep.events import Trace
from lockstep.experts.gate import top_k_gate
from lockstep.machines import Cluster
from lockstep.machines import find as cluster_of
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run


def node_limited(s: Tensor, k: int, nodes: int, M: int) -> Tensor:
    """(1) The choices (T, k) of tokens with ``s`` (T, E), a score or s + b; at most M of the ``nodes`` for a token.

    Raises UsageError unless nodes divide E, M divides k, and M nodes have k experts."""
    each = s.shape[1] // nodes
    if s.shape[1] % nodes or not 1 <= M <= nodes or k % M or k > M * each:
        raise UsageError(f"{k} choices among {s.shape[1]} experts on {nodes} nodes can't be limited to {M} nodes.")
    by_node = s.reshape(-1, nodes, each)
    best = by_node.topk(k // M, dim=2).values.sum(2)  # (T, nodes)
    allowed, _ = top_k_gate(best, M)
    closed = torch.ones_like(best, dtype=torch.bool).scatter(1, allowed, False)
    return top_k_gate(by_node.masked_fill(closed[..., None], -torch.inf).flatten(1), k)[0]


# ---- two ways to dispatch


class Arrived(NamedTuple):
    """Rows (S, d) for a rank's experts, and what each of them chose (S, c): the rank computes those that are its own.
    Straight, c is 1; in two stages k, and a token comes once for all of the rank's experts."""

    rows: Tensor
    experts: Tensor


def straight(x: Tensor, experts: Tensor, E: int) -> Arrived:
    """(2) for this rank's tokens ``x`` (T, d) with choices ``experts`` (T, k). All ranks call it."""
    K, k = dist.get_world_size(), experts.shape[1]
    order = torch.argsort(experts.flatten(), stable=True)
    chosen = experts.flatten()[order]
    sent = torch.bincount(chosen // (E // K), minlength=K)
    return travelled(Arrived(x[order // k], chosen[:, None]), sent, range(K))


def in_two_stages(x: Tensor, experts: Tensor, E: int, per_node: int) -> Arrived:
    """(3) likewise, with ``per_node`` ranks in a node."""
    K = dist.get_world_size()
    node, place = divmod(dist.get_rank(), per_node)
    same_place = range(place, K, per_node)
    there = copied(Arrived(x, experts), E // K * per_node, 0, same_place)
    return copied(there, E // K, node * per_node, range(node * per_node, (node + 1) * per_node))


def copied(here: Arrived, each: int, first: int, peers: Sequence[int]) -> Arrived:
    """A row goes once to each of the ``peers`` that leads to one of its experts. They stand for stretches of ``each``
    experts, from stretch ``first`` on."""
    stretch = (here.experts // each - first).clamp(-1, len(peers))
    wanted = F.one_hot(stretch + 1, len(peers) + 2).any(1)[:, 1:-1]  # (rows, peers)
    _, row = wanted.T.nonzero(as_tuple=True)
    return travelled(Arrived(here.rows[row], here.experts[row]), wanted.sum(0), peers)


def travelled(leaving: Arrived, sent: Tensor, peers: Sequence[int]) -> Arrived:
    """To each peer its part, ``sent`` rows one after another, by messages: first how many, then the rows and choices,
    where there are any. A rank is one of its own peers."""
    here, counts = peers.index(dist.get_rank()), list(torch.split(sent, 1))
    arriving = [torch.empty_like(n) for n in counts]
    arriving[here] = counts[here]
    _exchanged(counts, arriving, peers, here)
    parts = []
    for part in leaving:
        out = list(torch.split(part, sent.tolist()))
        into = [part.new_empty(int(n), *part.shape[1:]) for n in arriving]
        into[here] = out[here]
        _exchanged(out, into, peers, here)
        parts.append(torch.cat(into))
    return Arrived(*parts)


def _exchanged(out: Sequence[Tensor], into: Sequence[Tensor], peers: Sequence[int], here: int) -> None:
    works: list[Any] = []
    for n, peer in enumerate(peers):
        if n != here and len(into[n]):
            works.append(dist.irecv(into[n], src=peer))
    for n, peer in enumerate(peers):
        if n != here and len(out[n]):
            works.append(dist.isend(out[n].contiguous(), dst=peer))
    for work in works:
        work.wait()


# ---- what crosses


class Crossed(NamedTuple):
    """Bytes that all ranks together sent: between nodes, and inside of them; and seconds."""

    between: int
    inside: int
    seconds: float


def crossed(trace: Trace, per_node: int) -> Crossed:
    """Of a run's messages."""
    found = [0, 0]
    for e in trace.of_kind("send"):
        found[e.peer is not None and e.peer // per_node == e.rank // per_node] += e.nbytes
    return Crossed(found[0], found[1], trace.time)


def dispatched(two_stages: bool, M: int, per_node: int, E: int, k: int, T: int, d: int) -> int:
    """On a rank: T tokens in bfloat16, with random scores; returns how many of its experts' rows there are."""
    drawn, K = torch.Generator().manual_seed(dist.get_rank()), dist.get_world_size()
    s = torch.rand(T, E, generator=drawn)
    experts = node_limited(s, k, K // per_node, M)
    x = torch.ones(T, d, dtype=torch.bfloat16)
    there = in_two_stages(x, experts, E, per_node) if two_stages else straight(x, experts, E)
    return int((there.experts // (E // K) == dist.get_rank()).sum())


def measured(
    two_stages: bool, M: int, on: Cluster, ranks: int = 16, E: int = 64, k: int = 8, T: int = 256, d: int = 1024
) -> Crossed:
    done = run(dispatched, two_stages, M, on.ranks_per_node, E, k, T, d, ranks=ranks, on=on)
    return crossed(done.trace, on.ranks_per_node)


def stages_table(ranks: int = 16, limits: Sequence[int] = (2, 1), on: str = "dgx-a100") -> Table:
    """Both ways, where a token reaches both nodes, and where it reaches one."""
    ways, rows = {"straight to each expert": False, "in two stages": True}, []
    for M, (way, two) in counted([(M, way) for M in limits for way in ways.items()], "Simulating", each=1.0):
        c = measured(two, M, cluster_of(on), ranks)
        rows.append([str(M), way, f"{c.between / 1e6:.1f}", f"{c.inside / 1e6:.1f}", f"{1e6 * c.seconds:.0f}"])
    head = ["nodes a token may reach", "dispatch", "MB between nodes", "MB inside nodes", "µs"]
    return Table(f"{ranks} A100 in nodes of 8: 256 tokens on each, 1,024 wide, 64 experts, k = 8", head, rows)
