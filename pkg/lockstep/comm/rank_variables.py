"""The environment variables from which a program takes its rank, named and meant as torchrun's."""

from __future__ import annotations

import os


def rank_variables(rank: int, ranks: int, ranks_per_node: int) -> dict[str, str]:
    """The variables of ``rank`` out of ``ranks``, of which each node but the last has ``ranks_per_node``.

    GROUP_RANK is the number of its node: torchrun calls the ranks of a node a group. All ranks have one role."""
    node, local = divmod(rank, ranks_per_node)
    numbers = {
        "RANK": rank,
        "LOCAL_RANK": local,
        "GROUP_RANK": node,
        "ROLE_RANK": rank,
        "WORLD_SIZE": ranks,
        "LOCAL_WORLD_SIZE": min(ranks_per_node, ranks - node * ranks_per_node),
        "GROUP_WORLD_SIZE": -(-ranks // ranks_per_node),
        "ROLE_WORLD_SIZE": ranks,
    }
    return {name: str(number) for name, number in numbers.items()}


def name_master(address: str, port: int) -> None:
    """Set MASTER_ADDR and MASTER_PORT for programs that read them, unless the caller has set them."""
    os.environ.setdefault("MASTER_ADDR", address)
    os.environ.setdefault("MASTER_PORT", str(port))
