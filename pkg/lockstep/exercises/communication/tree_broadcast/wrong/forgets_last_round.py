"""The learner counted the rounds wrong by one."""

import torch.distributed as dist

MISCONCEPTION = "forgets-last-step"
TELL = "Some ranks never receive the tensor: rounds are missing. After n rounds 2^n ranks can have it, so that K ranks take log2 K rounds, rounded up."


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    for i in range((K - 1).bit_length() - 1):
        d = 2**i
        if v < d and v + d < K:
            dist.send(x, group=group, group_dst=(root + v + d) % K)
        elif d <= v < 2 * d:
            dist.recv(x, group=group, group_src=(root + v - d) % K)
    tensor.copy_(x)
