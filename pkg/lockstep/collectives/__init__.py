"""Collective operations built from send and recv alone, each on one screen, the naive form next to the fast one.

All act on a tensor of any shape, dtype and layout, in place, and return it. ``group=None`` is the whole world;
``src`` and ``dst`` are global ranks, as in torch.distributed. One rank takes the same path as many.

Taught in unit 04. Read in this order:

    exchange          isend; irecv
    ping_pong         ping-pong
    naive             broadcast; reduce; gather; scatter (the first forms that come to mind)
    tree              tree (binomial: broadcast and reduce)
    ring              ring all-reduce; reduce-scatter; all-gather
    halving_doubling  recursive doubling; halving
    all_to_all        (all-to-all: the transpose of a matrix whose rows are ranks)
    overlap           overlap
    deadlocks         deadlock (three programs that hang, and the same fixed)
    all_reduce_test   is_all_reduce
    your_line         (two all-reduces with one line left open)
"""

from lockstep.collectives.all_reduce_test import is_all_reduce
from lockstep.collectives.all_to_all import one_by_one_all_to_all, pairwise_all_to_all
from lockstep.collectives.deadlocks import (
    mend_out_of_order_tags,
    mend_ring_of_sends,
    mend_skipped_collective,
    out_of_order_tags,
    ring_of_sends,
    skipped_collective,
)
from lockstep.collectives.exchange import exchange, flat
from lockstep.collectives.halving_doubling import halving_doubling_all_reduce, recursive_doubling_all_reduce
from lockstep.collectives.naive import (
    one_reduce_after_another,
    peers_all_reduce,
    star_all_reduce,
    star_broadcast,
    star_reduce,
    unchunked_ring_all_reduce,
)
from lockstep.collectives.overlap import one_after_the_other, overlapped_step
from lockstep.collectives.ping_pong import ping_pong
from lockstep.collectives.ring import ring_all_gather, ring_all_reduce, ring_reduce_scatter
from lockstep.collectives.tree import binary_tree_all_reduce, tree_broadcast, tree_reduce
from lockstep.collectives.your_line import driven_doubling, driven_ring

__all__ = [
    "binary_tree_all_reduce",
    "driven_doubling",
    "driven_ring",
    "exchange",
    "flat",
    "halving_doubling_all_reduce",
    "is_all_reduce",
    "mend_out_of_order_tags",
    "mend_ring_of_sends",
    "mend_skipped_collective",
    "one_after_the_other",
    "one_by_one_all_to_all",
    "one_reduce_after_another",
    "out_of_order_tags",
    "overlapped_step",
    "pairwise_all_to_all",
    "peers_all_reduce",
    "ping_pong",
    "recursive_doubling_all_reduce",
    "ring_all_gather",
    "ring_all_reduce",
    "ring_of_sends",
    "ring_reduce_scatter",
    "skipped_collective",
    "star_all_reduce",
    "star_broadcast",
    "star_reduce",
    "tree_broadcast",
    "tree_reduce",
    "unchunked_ring_all_reduce",
]
