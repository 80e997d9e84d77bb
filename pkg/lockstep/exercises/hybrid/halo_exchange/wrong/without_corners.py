"""The learner thought: four messages bring four sides, and the corners are nobody's."""

MISCONCEPTION = "wrong-values"
TELL = "The corners are missing: you send what was in the block. What has come from above and below is there now. Send its ends along to the sides."

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
    return out
