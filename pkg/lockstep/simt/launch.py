"""Run a kernel on the warp machine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lockstep.errors import UsageError
from lockstep.simt.interpreter.kernel_source import Source
from lockstep.simt.interpreter.program import Program
from lockstep.simt.lane_values import Value, typed
from lockstep.simt.memory import Array, GlobalMemory
from lockstep.simt.profile import COUNTED, LineCounts, Listing, Recorder, Step, page, table, total
from lockstep.simt.race_detection.findings import Coordinates, Finding, Findings
from lockstep.simt.race_detection.hazards import GridHazards
from lockstep.simt.schedule import run_block, run_grid
from lockstep.simt.warp import Block, Shape

THREADS = 1024  # of a block, at most
AXES = (1024, 1024, 64)  # of a block, at most, along x, y and z
SHARED = 227 * 1024  # bytes that a block can have on an H100


@dataclass(frozen=True, repr=False)
class Launch:
    """The results of a launch.

    ``lines``: the counts of each line of the kernel, in order, then those of the device functions that it calls.
    ``findings``: errors of the kernel, in the order of its lines; empty for a correct one. ``steps``: the steps of the
    warp that was to be recorded."""

    kernel: str
    grid: Coordinates
    block: Coordinates
    lines: tuple[LineCounts, ...]
    findings: tuple[Finding, ...]
    steps: tuple[Step, ...] = ()

    def total(self) -> LineCounts:
        """All lines together."""
        return total(self.lines)

    def line(self, text: str) -> LineCounts:
        """The first line whose source contains ``text``. Raises UsageError if none does."""
        for line in self.lines:
            if text in line.text:
                return line
        raise UsageError(f"No line of {self.kernel} contains {text!r}.", "Look at print(launch.table()).")

    def __repr__(self) -> str:
        return self.table()

    def counts(self) -> dict[str, int]:
        """All lines together as a dict, with the ``threads`` of the launch and the number of ``races`` found."""
        of_all, (x, y, z) = self.total(), self.block
        threads = x * y * z * self.grid[0] * self.grid[1] * self.grid[2]
        counted = {name: int(getattr(of_all, name)) for name in COUNTED}
        return {"threads": threads, **counted, "races": sum(found.kind == "race" for found in self.findings)}

    def table(self) -> Listing:
        """The source with its counts, then the findings."""
        told = [f"{finding.kind}: {finding}" for finding in self.findings]
        return Listing("\n".join([table(self.lines), *([""] if told else []), *told]), page(self.lines, told))


def launch(
    kernel: Any,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    *args: Any,
    shared_bytes: int = 0,
    record: tuple[int, int] | None = None,
) -> Launch:
    """Run ``kernel`` with ``grid`` blocks of ``block`` threads, and count.

    ``kernel``: a function with ``@cuda.jit`` of numba, or the same function without it. ``grid`` and ``block``: a
    number or up to three. Arrays are NumPy's, and are changed in place. ``shared_bytes``: of dynamic shared memory, for
    ``cuda.shared.array(0, dtype)``. ``record``: (block, warp), both counted from 0, whose steps are to be kept.

    Raises KernelError for a kernel that cannot run, UsageError for sizes and arguments that no GPU takes.
    """
    shape = Shape(_three(grid, "grid"), _three(block, "block"))
    _check_sizes(shape, shared_bytes)
    _check_record(shape, record)
    program, findings, recorder = Program(kernel), Findings(), Recorder()
    values = _arguments(program.source, args)
    hazards = GridHazards(findings)
    recorders = {record: recorder} if record else {}
    blocks = (
        Block((x, y, z), shape, findings, hazards, shared_bytes)
        for z, y, x in itertools.product(*(range(size) for size in reversed(shape.grid)))
    )
    with np.errstate(all="ignore"):
        run_grid(run_block(program, block, values, findings, recorders) for block in blocks)
        hazards.end()
    steps = tuple(recorder.steps)
    return Launch(program.source.name, shape.grid, shape.block, tuple(program.lines()), tuple(findings.listed()), steps)


def _three(sizes: int | Sequence[int], what: str) -> Coordinates:
    given = tuple(sizes) if isinstance(sizes, Sequence) else (sizes,)
    whole = all(isinstance(size, int | np.integer) and size > 0 for size in given)
    if not whole or not 1 <= len(given) <= 3:
        raise UsageError(f"{what} is {sizes!r}.", "Give a positive whole number, or two or three of them: (4, 8).")
    x, y, z = (*(int(size) for size in given), 1, 1)[:3]
    return x, y, z


def _check_sizes(shape: Shape, shared_bytes: int) -> None:
    if shape.threads > THREADS or any(size > most for size, most in zip(shape.block, AXES, strict=True)):
        raise UsageError(
            f"A block of {shape.block} has {shape.threads:,} threads.",
            f"A GPU takes at most {THREADS:,}, and at most {AXES} along x, y and z: take more blocks.",
        )
    if not 0 <= shared_bytes <= SHARED:
        raise UsageError(f"shared_bytes is {shared_bytes:,}.", f"A block can have 0 to {SHARED:,} bytes.")


def _check_record(shape: Shape, record: tuple[int, int] | None) -> None:
    blocks = math.prod(shape.grid)
    if record is not None and not (0 <= record[0] < blocks and 0 <= record[1] < shape.warps):
        raise UsageError(
            f"record is {record}.", f"There are blocks 0 to {blocks - 1}, and each has warps 0 to {shape.warps - 1}."
        )


def _arguments(source: Source, args: Sequence[Any]) -> dict[str, Value]:
    names = source.parameters
    if len(args) != len(names):
        raise UsageError(
            f"{source.name} needs {len(names)} arguments ({', '.join(names)}), and was given {len(args)}.",
            f"Write launch({source.name}, grid, block, {', '.join(names)}).",
        )
    memory = GlobalMemory()
    values = {name: _argument(memory, name, value) for name, value in zip(names, args, strict=True)}
    arrays = {name: value for name, value in values.items() if isinstance(value, Array)}
    written = {array.memory for name, array in arrays.items() if source.may_write(name, len(array.shape))}
    for array in arrays.values():
        array.memory.watched = array.memory in written  # nobody can race for what nobody writes
    return values


def _argument(memory: GlobalMemory, name: str, value: Any) -> Value:
    if isinstance(value, np.ndarray):
        return memory.array(value, name)
    given = typed(value)
    if isinstance(given, np.generic | tuple):
        return given
    remedy = "Pass numbers and NumPy arrays: numpy.asarray(…)."
    raise UsageError(f"The argument {name} is of type {type(value).__name__}.", remedy)
