"""The learner thought: attention needs everything, so everybody gets everything."""

MISCONCEPTION = "too-many-other-collectives"

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    H, t, d = q.shape
    longest = max(lengths)

    def gather(x):
        padded = x.new_zeros(len(x), longest, d)
        padded[:, :t] = x
        out = [torch.empty_like(padded) for _ in range(K)]
        dist.all_gather(out, padded, group=group)
        return torch.cat([o[:, :n] for o, n in zip(out, lengths)], 1)

    y = attend(gather(q), gather(k), gather(v))
    start = sum(lengths[:r])
    return y[:, start : start + t].clone()
