"""Loops over tokens and choices; each rank's rows in a list; other order of an expert's rows."""

import torch
import torch.distributed as dist


def dispatch_and_combine(x, experts, weights, compute, count, capacity, group=None):
    K, (T, k) = dist.get_world_size(group), experts.shape
    kept, rows_for = torch.zeros_like(experts, dtype=torch.bool), [[] for _ in range(count)]
    for j in range(k):
        for t in range(T):
            if len(rows_for[experts[t, j]]) < capacity:
                rows_for[experts[t, j]].insert(0, (t, j))
                kept[t, j] = True
    order = [row for rows in rows_for for row in rows]
    counts = torch.tensor([len(rows) for rows in rows_for], device=x.device)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)
    out, into = counts.view(K, -1).sum(1).tolist(), arriving.view(K, -1).sum(1).tolist()
    rows, home = x.new_empty(sum(into), x.shape[1]), x.new_empty(sum(out), x.shape[1])
    tokens = torch.tensor([t for t, _ in order], dtype=torch.int64)
    dist.all_to_all_single(rows, x[tokens], into, out, group=group)
    parts = rows.split(arriving.tolist())
    each = count // K
    done = [None] * count
    for i in range(each):
        mine = range(i, count, each)
        if sum(len(parts[n]) for n in mine):
            made = compute(i, torch.cat([parts[n] for n in mine])).split([len(parts[n]) for n in mine])
            for n, part in zip(mine, made):
                done[n] = part
    done = [part for part in done if part is not None]
    dist.all_to_all_single(home, torch.cat(done) if done else rows, out, into, group=group)
    y = torch.zeros_like(x)
    for (t, j), row in zip(order, home):
        y[t] += weights[t, j] * row
    return y, kept
