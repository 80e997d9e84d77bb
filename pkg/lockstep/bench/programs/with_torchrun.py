"""A rank of torchrun: rank 0 prints how long ago the command was started.

usage: torchrun --nproc-per-node RANKS with_torchrun.py BEGIN     (time.monotonic() of the starter: one clock for all
processes of a machine)
"""

import json
import sys
import time

import torch
import torch.distributed as dist

if __name__ == "__main__":
    dist.init_process_group("gloo")
    x = torch.ones(1)
    dist.all_reduce(x)
    assert x.item() == dist.get_world_size()
    if dist.get_rank() == 0:
        print(json.dumps({"torchrun": time.monotonic() - float(sys.argv[1])}))
    dist.barrier()
    dist.destroy_process_group()
