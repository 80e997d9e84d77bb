"""torchrun --nproc-per-node 4 -m ring_attention.main"""

import torch
import torch.distributed as dist

from ring_attention import distributed, ring_attention

HEADS, LENGTH, WIDTH = 2, 24, 4


def inputs():
    return torch.randn(3, HEADS, LENGTH, WIDTH, generator=torch.Generator().manual_seed(0)).unbind()


def main(causal=False):
    distributed.start()
    q, k, v = (t.chunk(distributed.world_size(), dim=1)[distributed.rank()].contiguous() for t in inputs())
    out = ring_attention(q, k, v, causal)
    dist.destroy_process_group()
    return distributed.rank(), out


if __name__ == "__main__":
    print(main()[1].sum())
