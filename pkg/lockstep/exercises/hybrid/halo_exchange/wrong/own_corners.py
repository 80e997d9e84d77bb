"""The learner thought: a corner is a part of the row above, so it is mine."""

MISCONCEPTION = "wrong-values"
TELL = "In the corners there are cells of the block above and below, or your own ones. They belong to the blocks that lie diagonally: they come by the sides, after the rows have come."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    (h, w), me = block.shape, dist.get_rank(group)
    i, j = divmod(me, Q)
    out = torch.zeros(h + 2 * width, w + 2 * width, dtype=block.dtype)
    out[width : width + h, width : width + w] = block

    def swap(first, last, before, after):
        if before == me:
            return last, first
        first, last = first.contiguous(), last.contiguous()
        got = torch.empty_like(last), torch.empty_like(first)
        works = [
            dist.isend(last, group=group, group_dst=after),
            dist.isend(first, group=group, group_dst=before),
            dist.irecv(got[0], group=group, group_src=before),
            dist.irecv(got[1], group=group, group_src=after),
        ]
        for work in works:
            work.wait()
        return got

    above, below = swap(block[:width], block[-width:], (i - 1) % P * Q + j, (i + 1) % P * Q + j)
    left, right = swap(block[:, :width], block[:, -width:], i * Q + (j - 1) % Q, i * Q + (j + 1) % Q)
    out[:width, width:-width], out[-width:, width:-width] = above, below
    out[width:-width, :width], out[width:-width, -width:] = left, right
    for rows in (slice(0, width), slice(h + width, None)):
        out[rows, :width] = out[rows, width : 2 * width]
        out[rows, -width:] = out[rows, w : w + width]
    return out
