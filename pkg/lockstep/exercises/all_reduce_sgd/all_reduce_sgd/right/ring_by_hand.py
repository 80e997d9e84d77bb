"""The all-reduce of the unit before, from send and recv: as many bytes as torch's."""

import torch
import torch.distributed as dist


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K, rank = dist.get_world_size(group), dist.get_rank(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y).flatten()
        chunks = list(g.tensor_split(K))
        for step in range(2 * (K - 1)):
            out, into = (rank - step) % K, (rank - step - 1) % K
            received = torch.empty_like(chunks[into])
            sending = dist.P2POp(dist.isend, chunks[out].clone(), group=group, group_peer=(rank + 1) % K)
            receiving = dist.P2POp(dist.irecv, received, group=group, group_peer=(rank - 1) % K)
            for work in dist.batch_isend_irecv([sending, receiving]):
                work.wait()
            if step < K - 1:
                chunks[into] += received
            else:
                chunks[into].copy_(received)
        w = w - alpha(t) / K * g.view_as(w)
    return w
