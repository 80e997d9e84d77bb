"""All heads in one tensor, put in order by an index; what arrives goes into a tensor that is there."""

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    """This rank's part (H, t, d) of causal attention over all positions."""
    with torch.no_grad():
        K = dist.get_world_size(group)
        H, t, d = q.shape
        G = k.shape[0]
        hq, hk = H // K, G // K
        n = hq + 2 * hk
        order = []
        for j in range(K):
            order += range(j * hq, (j + 1) * hq)
            order += range(H + j * hk, H + (j + 1) * hk)
            order += range(H + G + j * hk, H + G + (j + 1) * hk)
        heads = [*q, *k, *v]
        given = torch.stack([heads[i] for i in order]).flatten()
        total = sum(lengths)
        received = q.new_zeros(n * total * d)
        dist.all_to_all_single(received, given, [n * m * d for m in lengths], [n * t * d] * K, group=group)
        whole = q.new_zeros(n, total, d)
        at = 0
        for m in lengths:
            whole[:, at : at + m] = received[n * at * d : n * (at + m) * d].view(n, m, d)
            at += m
        result = attend(whole[:hq].clone(), whole[hq : hq + hk].clone(), whole[hq + hk :].clone())
        given = q.new_zeros(hq * total * d)
        at = 0
        for m in lengths:
            given[hq * at * d : hq * (at + m) * d] = result[:, at : at + m].reshape(hq * m * d)
            at += m
        answer = q.new_zeros(H, t, d)
        dist.all_to_all_single(
            answer.view(H * t * d), given, [hq * t * d] * K, [hq * m * d for m in lengths], group=group
        )
        return answer
