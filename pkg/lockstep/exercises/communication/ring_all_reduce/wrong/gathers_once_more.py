"""The learner lets the all-gather go on until each chunk is back where it was complete. It does no harm but cost."""

import torch
import torch.distributed as dist

MISCONCEPTION = "one-round-too-many"
TELL = "The second trip goes on for one step too many: after K-1 steps every rank has all chunks."
VARIANTS = ["one_round_too_many"]


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    chunks = total.view(-1).tensor_split(K)
    for step in range(2 * K - 1 if K > 1 else 0):
        outgoing, target = chunks[(rank - step) % K], chunks[(rank - step - 1) % K]
        incoming = torch.empty_like(target)
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        if step < K - 1:
            target += incoming
        else:
            target.copy_(incoming)
    return total
