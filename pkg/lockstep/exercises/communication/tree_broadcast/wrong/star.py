"""The learner thought: the root has the data, so the root sends it."""

import torch.distributed as dist

MISCONCEPTION = "star"
TELL = "The root does all the work. Let those who have received the tensor send it on, too."


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    if v == 0:
        for other in range(1, K):
            dist.send(x, group=group, group_dst=(root + other) % K)
    else:
        dist.recv(x, group=group, group_src=root)
    tensor.copy_(x)
