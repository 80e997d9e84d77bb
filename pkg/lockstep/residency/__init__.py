"""Memory accounting: how many bytes of tensors are alive on a rank, by kind and at its peak, in any world.

Read in this order:

    live_storages      which storages are alive, and what each is: parameter, gradient, activation, optimizer state
    memory_hooks       hooks of modules, optimizers and storages that say what belongs to whom
    training_spans     forward, backward or update; of which layer and which micro-batch
    nested_tensors     the tensors in arguments, closures and wrapper subclasses
    memory_timeline    from the log of allocations to the peaks and the time line of a run
    peak_memory        the peak of a piece of a program, as torch.cuda.max_memory_allocated gives it
    non_tensor_memory  what a program keeps besides tensors: arrays, lists, bytes, files, mapped memory
    opened_files       the files that a thread opens to write
"""

from lockstep.residency.live_storages import Residency
from lockstep.residency.memory_hooks import Hooks
from lockstep.residency.non_tensor_memory import BESIDES, SMALL
from lockstep.residency.peak_memory import booked, peak_of, weighed

__all__ = ["BESIDES", "SMALL", "Hooks", "Residency", "booked", "peak_of", "weighed"]
