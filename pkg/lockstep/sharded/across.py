"""What leaves a node: replicas, shards over all ranks, and hybrid sharding.

    M       bytes of all parameters (and of all gradients)
    W, G    ranks, and those of a node; H = W/G nodes

                          within a node, a rank      to other nodes, all ranks of a node
    replicas, all-reduce  2·M·(G-1)/G                2·M·(H-1)/H
    full sharding         3·M·(G-1)/G                3·M·(H-1)/H
    hybrid sharding       3·M·(G-1)/G                2·M·(H-1)/H

That is if each collective goes in two steps, within the nodes and across: then what leaves a node does not depend on
how many ranks it has. ``cost.sharding.published_across`` has the worst case (Zhao et al., arXiv:2304.11277, 3.2.2).
"""

from __future__ import annotations

from lockstep.cost.sharding import hybrid
from lockstep.tables import Table


def across_table(gigabytes: float = 14.0, per_node: int = 8, nodes: int = 16) -> Table:
    """GB a step for a model of so many GB of parameters."""
    M, inside, outside = gigabytes, (per_node - 1) / per_node, (nodes - 1) / nodes
    of_hybrid = hybrid(M, per_node * nodes, per_node)
    rows = [
        ("replicas, DDP", f"{M:.4g}", f"{2 * M * inside:.1f}", f"{2 * M * outside:.1f}"),
        ("full sharding", f"{M / per_node / nodes:.2f}", f"{3 * M * inside:.1f}", f"{3 * M * outside:.1f}"),
        ("hybrid sharding", f"{M / per_node:.2f}", f"{of_hybrid.within:.1f}", f"{per_node * of_hybrid.across:.1f}"),
    ]
    head = ["", "GB of parameters a rank", "GB a rank sends in its node", "GB that leave a node"]
    return Table(f"{M:g} GB of parameters, {nodes} nodes of {per_node} GPUs, one step", head, rows)
