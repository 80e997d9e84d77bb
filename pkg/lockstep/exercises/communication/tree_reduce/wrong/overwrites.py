"""The learner received straight into the tensor, and so lost what was in it."""

import torch.distributed as dist

MISCONCEPTION = "forgets-to-add"
TELL = "What arrives takes the place of what was there. Receive into a tensor of its own, torch.empty_like(tensor), and add it."


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    for i in reversed(range((K - 1).bit_length())):
        d = 2**i
        if d <= v < 2 * d:
            dist.send(x, group=group, group_dst=(root + v - d) % K)
        elif v < d and v + d < K:
            dist.recv(x, group=group, group_src=(root + v + d) % K)
    tensor.copy_(x)
