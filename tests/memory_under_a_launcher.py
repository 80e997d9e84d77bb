"""Run by torchrun: the memory of a training step, and what is left of its hooks."""

import os

import memory_cases
import torch
import torch.distributed as dist
from torch.autograd.function import FunctionCtx

from lockstep import run

before = torch.UntypedStorage.resize_, FunctionCtx.save_for_backward
result = run(memory_cases.momentum)
assert before == (torch.UntypedStorage.resize_, FunctionCtx.save_for_backward)
if int(os.environ["RANK"]) == 0:
    print("memory", [m.peaks for m in result.memory])
if dist.is_initialized():
    dist.destroy_process_group()
