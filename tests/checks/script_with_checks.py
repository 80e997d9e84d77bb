"""Started by torchrun: a learner's script that calls check() itself. Rank 0 prints each verdict and its reasons."""

import json

import torch
import torch.distributed as dist

from lockstep import check, collectives


def star(tensor, group=None):
    """Everything to rank 0, and back to everyone: right values, and not a ring."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone()
    if rank == 0:
        room = torch.empty_like(total)
        for other in range(1, size):
            dist.recv(room, group=group, group_src=other)
            total += room
        for other in range(1, size):
            dist.send(total, group=group, group_dst=other)
    else:
        dist.send(total, group=group, group_dst=0)
        dist.recv(total, group=group, group_src=0)
    return total


if __name__ == "__main__":
    for fn in (star, collectives.ring_all_reduce):
        score = check("communication.ring_all_reduce", fn)
        if dist.get_rank() == 0:
            told = [
                score.verdict,
                [f.misconception for f in score.findings],
                len(score.trace.communication) if score.trace else 0,
            ]
            print(json.dumps(told), flush=True)
