"""The left neighbour's tensor

Every rank passes its tensor to the right, and returns the one that it gets. Rank 0 gets the last one's.
"""

import torch
import torch.distributed as dist


def left_neighbour(tensor):
    """The tensor of the rank to the left."""
    rank, size = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(tensor)
    sending = dist.isend(tensor, (rank + 1) % size)
    dist.recv(received, (rank - 1) % size)
    sending.wait()
    return received


ranks = 3
cases = [
    (
        {rank: torch.full((4,), float(rank)) for rank in range(3)},
        {r: torch.full((4,), (r - 1.0) % 3) for r in range(3)},
    ),
    (torch.ones(2, 2), torch.ones(2, 2), "the same everywhere"),
]
