"""Context parallelism, for sequences that are too long for one rank: each rank has a part of every sequence, in all
layers, and only attention needs the others' parts.

Taught in unit 12. Read in this order:

    layout          zig-zag (which positions a rank has)
    online_softmax  online softmax
    ring_attention  ring attention
    ulysses         Ulysses
    functional      (the ring of the lab, on plain tensors)
    ring_test       (a test of it: values, and no pair in vain)
"""

from lockstep.context_parallel.functional import zigzag_ring_attention
from lockstep.context_parallel.layout import Layout
from lockstep.context_parallel.ring_attention import ring_attention
from lockstep.context_parallel.ulysses import ulysses_attention

__all__ = ["Layout", "ring_attention", "ulysses_attention", "zigzag_ring_attention"]
