"""Functions that torch.compile would cut into several graphs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lockstep.bottlenecks.operations_seen import gelu_written_out, graph_breaks
from lockstep.tables import Table
from lockstep.tally import counted


def breaks_table(fn: Callable[[Tensor], Tensor]) -> Table:
    """The graph breaks of the GELU that is written out, and those of ``fn``, a function of a tensor."""
    x, rows = torch.ones(1000), []
    for one in counted((gelu_written_out, fn), "Recording graphs", each=3.0):
        reasons = graph_breaks(one, x)
        rows.append([one.__name__, f"{len(reasons)}", "; ".join(reasons)])
    return Table("What torch.compile would cut", ["function", "graph breaks", "why"], rows)
