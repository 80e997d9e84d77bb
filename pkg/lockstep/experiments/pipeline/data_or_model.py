"""The notes' table of data and model parallelism, measured: throughput, implementation, communication, and what for.

    the notes         data parallel                model parallel
    throughput        increases                    decreases
    implementation    relatively straightforward   more difficult
    communication     low to moderate              high
    use               speed up training            models that need much memory

Measured on one flat MLP and one batch, on 8 simulated A100. "Decreases" is right for the naive way: it is slower than
one rank. A pipeline reaches 88 % of what data parallelism does. "High" is not right for stages: a rank sends its
activations, not its gradients, and how much that is depends on the batch instead of the weights. What a pipeline costs
is in the column of code, and in the balance that it needs.
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
from lockstep.pipeline import instructions, mailbox, worker
from lockstep.pipeline.schedules import messages
from lockstep.tables import Table
from lockstep.worlds import Result

WAYS = (ALONE, DATA, "naive", "gpipe", "one_f_one_b")
MACHINERY = (instructions, messages, mailbox, worker)


class Row(NamedTuple):
    way: str
    speedup: float  # examples a second, by those of one rank
    memory: int  # bytes, on the rank that has most
    sent: float  # bytes in a step, by the rank that sends most
    code: int  # lines of the library that it takes, without comments


def measured(K: int = 8, flat: Flat | None = None) -> list[Row]:
    """A row for each way. Raises UsageError for a single rank, where all ways are one."""
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
    """Messages, and all-reduces as a ring sends them: 2(K-1)/K of the tensor."""
    K = result.trace.ranks
    reduced = sum(e.nbytes for e in result.trace.of_rank(rank) if e.kind == "all_reduce")
    return result.trace.sent(rank).nbytes + 2 * (K - 1) / K * reduced


def code_of(way: str) -> Sequence[ModuleType]:
    """The modules of this library that it takes."""
    if way in (ALONE, DATA):
        return (sgd,) if way == DATA else ()
    return (*MACHINERY, importlib.import_module(f"lockstep.pipeline.schedules.{way}"))


def lines_of(modules: Sequence[ModuleType]) -> int:
    """Without docstrings, comments and empty lines."""
    return sum(len(ast.unparse(without_docstrings(ast.parse(inspect.getsource(m)))).splitlines()) for m in modules)


def without_docstrings(tree: ast.Module) -> ast.Module:
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
