"""Recording what a real rank communicates, below its code: nothing that it wraps or forgets can hide a message.

Read in this order:

    recorder          a dispatch mode that records every c10d operation of the process, also DDP's and FSDP's
    c10d_operators    each operator's public meaning: kind, payload, peer
    argument_checks   what a collective requires of its tensors: layout, number, sizes
    shared_memory     which of the tensors that it writes to overlap
    tensor_support    which tensors it takes at all, by layout and dtype
    reduce_ops        the reduction of a collective: SUM, MAX, ...
    limited_waits     waits that end by themselves: work.wait(timeout), groups that have a timeout
    polls             busy-waiting: is_completed() asked again and again
    future_callbacks  callbacks of Futures, which run in the backend's threads
    started_threads   threads that the program starts
    journal           the operations as bytes, readable when the rank is dead or stuck
"""

from lockstep.record.journal import replay
from lockstep.record.recorder import Recorder

__all__ = ["Recorder", "replay"]
