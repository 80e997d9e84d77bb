"""The lecture notes' table of data and model parallelism, measured.

    the notes         data parallel                model parallel
    throughput        increases                    decreases
    implementation    relatively straightforward   more difficult
    communication     low to moderate              high
    use               speed up training            models that need much memory

All rows are measured on one flat MLP and one batch, on 8 simulated A100. "Decreases" holds for naive stages that get
the batch in 16 pieces, one after another, as here; in one piece they are as fast as one rank. A pipeline reaches 88 %
of the throughput of data parallelism. "High" does not hold for stages: a rank sends activations, not gradients, and
their size depends on the batch, not on the weights. The price of a pipeline is in the lines of code, and in the balance
that it needs.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from lockstep.data_parallel import sgd
from lockstep.errors import UsageError
from lockstep.experiments.pipeline.training import ALONE, DATA, Flat, executed
from lockstep.pipeline import instructions, worker
from lockstep.pipeline.schedules import messages
from lockstep.tables import Table
from lockstep.worlds import Result

WAYS = (ALONE, DATA, "naive", "gpipe", "one_f_one_b")
MACHINERY = (instructions, messages, worker)
TWICE = {  # not counted: the worker as one function, and the plain pairs that it executes
    "pipeline_worker", "gradient_of", "PAIR_NAMES", "PAIR_KINDS", "Pair", "Triple", "pairs", "orders", "orders_of",
    "triples", "from_pairs",
}  # fmt: skip


class Row(NamedTuple):
    way: str
    speedup: float  # throughput, relative to one rank
    memory: int  # bytes, maximum over the ranks
    sent: float  # bytes per step, maximum over the ranks
    code: int  # lines of library code that it takes, without comments


def measured(K: int = 8, flat: Flat | None = None) -> list[Row]:
    """A row for each way. Raises UsageError for a single rank, on which they are all the same."""
    if K < 2:
        raise UsageError("Data and model parallelism differ from two ranks on.", "Choose K = 2 or more.")
    flat, rows, alone = flat or Flat(), list[Row](), 0.0
    for way in WAYS:
        result = executed(way, 1 if way == ALONE else K, flat)
        alone = alone or result.time
        most = max(sent_bytes(result, rank) for rank in range(result.trace.ranks))
        rows.append(Row(way, alone / result.time, max(result.peak_memory), most, lines_of(code_of(way))))
    return rows


def sent_bytes(result: Result, rank: int) -> float:
    """Bytes sent by a rank: its messages, and 2(K-1)/K of the tensor for each (ring) all-reduce."""
    K = result.trace.ranks
    reduced = sum(e.nbytes for e in result.trace.of_rank(rank) if e.kind == "all_reduce")
    return result.trace.sent(rank).nbytes + 2 * (K - 1) / K * reduced


def code_of(way: str) -> Sequence[ModuleType]:
    """The modules of this library that a way needs."""
    if way in (ALONE, DATA):
        return (sgd,) if way == DATA else ()
    return (*MACHINERY, importlib.import_module(f"lockstep.pipeline.schedules.{way}"))


def lines_of(modules: Sequence[ModuleType]) -> int:
    """Without docstrings, comments and what is there ``TWICE``."""
    return sum(len(ast.unparse(counted(ast.parse(inspect.getsource(m)))).splitlines()) for m in modules)


def names_in(node: ast.stmt) -> set[str]:
    """What a statement of a module defines, as a function, a class or a variable."""
    targets = [*getattr(node, "targets", []), *filter(None, [getattr(node, "target", None)])]
    return {getattr(node, "name", ""), *(target.id for target in targets if isinstance(target, ast.Name))}


def counted(tree: ast.Module) -> ast.Module:
    tree.body = [node for node in tree.body if not names_in(node) & TWICE]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def data_or_model_table(K: int = 8, flat: Flat | None = None) -> Table:
    head = ["", "throughput", "memory of a rank", "sent by a rank", "lines of code"]
    rows = [
        [r.way, f"{r.speedup:.2f}x", f"{r.memory / 1e9:.2f} GB", f"{r.sent / 1e6:,.0f} MB", str(r.code)]
        for r in measured(K, flat)
    ]
    return Table(f"Data or model parallelism? One step of a flat MLP on {K} simulated A100", head, rows)
