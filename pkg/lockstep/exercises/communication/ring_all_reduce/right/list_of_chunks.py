"""Global ranks, a batch of operations, a list of chunks that are replaced and joined; empty chunks are not sent."""

import torch
import torch.distributed as dist


def ring_all_reduce(tensor, group=None):
    members = dist.get_process_group_ranks(group)
    K, r = len(members), members.index(dist.get_rank())
    chunks = [c.clone() for c in torch.tensor_split(tensor.reshape(-1), K)]

    def turn(give, take):
        incoming = torch.empty_like(chunks[take])
        operations = []
        if chunks[give].numel():
            operations.append(dist.P2POp(dist.isend, chunks[give], members[(r + 1) % K], group))
        if incoming.numel():
            operations.append(dist.P2POp(dist.irecv, incoming, members[r - 1], group))
        for work in dist.batch_isend_irecv(operations) if operations else []:
            work.wait()
        return incoming

    for t in range(K - 1):
        take = (r - t - 1) % K
        chunks[take] = chunks[take] + turn((r - t) % K, take)
    for t in range(K - 1):
        chunks[(r - t) % K] = turn((r - t + 1) % K, (r - t) % K)
    return torch.cat(chunks).reshape(tensor.shape)
