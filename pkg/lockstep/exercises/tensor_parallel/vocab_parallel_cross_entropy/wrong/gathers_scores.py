"""The learner thought: all scores are put together, and torch does the rest."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-bytes-forward"
TELL = (
    "All scores travel to all ranks: n numbers for each token. Three numbers a row will do: the largest, "
    "the target's, and the sum."
)


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    sizes = [torch.zeros((), dtype=torch.long) for _ in range(K)]
    dist.all_gather(sizes, torch.tensor(scores.shape[1]), group=group)
    most = int(max(sizes))
    padded = torch.full((len(scores), most), float("-inf"), dtype=scores.dtype)
    padded[:, : scores.shape[1]] = scores.detach()
    parts = [torch.empty_like(padded) for _ in range(K)]
    dist.all_gather(parts, padded, group=group)
    parts = [part[:, :size] for part, size in zip(parts, sizes)]
    parts[r] = scores
    return torch.nn.functional.cross_entropy(torch.cat(parts, 1), targets)
