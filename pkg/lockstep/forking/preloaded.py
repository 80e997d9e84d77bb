"""What processes that start ranks load ahead, once for all their forks, and what they leave until it is needed.

Every run needs ESSENTIAL. RARE takes half as long again, and a plain function of tensors and messages does not need it.
So a server is ready as soon as it has the first; it loads the second for the first function that is not plain, or while
nobody has asked for a run yet.
"""

from __future__ import annotations

import gc
import importlib
import pickletools
import sys
from collections.abc import Iterable

from lockstep.forking.gc_freeze import freeze

ESSENTIAL = (
    "torch",
    "torch.distributed",
    "torch.nn.parallel",
    "torch.utils.serialization.config",
    "numpy.ctypeslib",
    "numpy.random",
    "cloudpickle",
    "lockstep.launch.rank_process",
)
RARE = (
    "torch._dynamo",  # which an optimizer imports in its first step
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.distributed.pipelining",
)
UNASKED = (*RARE, "lockstep.virtual.fake_simulation")  # while nobody has asked for anything
LONGEST = 1 << 16  # bytes of a pickled function that is looked through
VISIBLE = {"__main__", "torch", "numpy", "builtins", "cloudpickle", "types", "math", "_codecs", "copyreg", "_operator"}
HINTS = ("optim", "checkpoint", "compile", "dynamo", "fsdp", "shard", "DTensor", "arallel", "pipelin", "DDP", "export")
ALONE = ("optim", "checkpoint", "dynamo", "fsdp", "DTensor", "export")  # in a function of one process


def preload() -> None:
    """Import ESSENTIAL, and seed torch once: the first time it reads source files for CUDA's record of stacks, which
    takes 3 ms. Children seed themselves again."""
    load(ESSENTIAL)
    importlib.import_module("lockstep.launch.job").seed_rank(0, 0)  # here, since it imports torch
    freeze()


def load(modules: Iterable[str]) -> None:
    """Import modules for all later forks, and freeze what they have made. The garbage collector is disabled meanwhile:
    it would take a fifth of the time."""
    gc.disable()
    try:
        for module in modules:
            importlib.import_module(module)
    finally:
        freeze()
        gc.enable()


def is_plain(pickled: bytes, alone: bool = False) -> bool:
    """Whether a pickled function certainly needs nothing of RARE: all of it is to be seen, so that it calls no other
    module's functions but torch's and NumPy's, and none of its names hints at RARE. ``alone``: it is a function of one
    process without a group, which may call what it likes; should it need RARE after all, it imports that itself."""
    if len(pickled) > LONGEST or RARE[0] in sys.modules:
        return False
    strings = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    if alone:
        return not any(hint in name for hint in ALONE for name in strings)
    modules = {name.partition(".")[0] for name in strings if name.partition(".")[0] in sys.modules}
    return modules <= VISIBLE and not any(hint in name for hint in HINTS for name in strings)
