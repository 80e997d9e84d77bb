"""Each position is a row, so that lengths are the split sizes."""

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape
    G = len(k)
    n = H // G
    # by kv head: its queries, its key, its value -> rows
    bundle = torch.cat([q.view(G, n, t, d), k.unsqueeze(1), v.unsqueeze(1)], 1)  # G, n+2, t, d
    rows = bundle.view(K, G // K, n + 2, t, d).permute(0, 3, 1, 2, 4).reshape(K * t, G // K * (n + 2) * d)
    got = rows.new_empty(sum(lengths), rows.shape[1])
    dist.all_to_all_single(got, rows, lengths, [t] * K, group=group)
    got = got.view(-1, G // K, n + 2, d).permute(1, 2, 0, 3)
    y = attend(got[:, :n].flatten(0, 1), got[:, n], got[:, n + 1])
    rows = y.transpose(0, 1).reshape(sum(lengths), H // K * d)
    back = rows.new_empty(K * t, rows.shape[1])
    dist.all_to_all_single(back, rows, [t] * K, lengths, group=group)
    return back.view(K, t, H // K, d).permute(0, 2, 1, 3).reshape(H, t, d)
