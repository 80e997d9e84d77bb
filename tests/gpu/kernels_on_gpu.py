"""The kernels of unit 03 on this machine's GPU, each beside the counts of the warp machine: do all arrays agree?

They get what their exercises give them: quarters and whole numbers, whose sums are exact in any order.
"""

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lockstep.checks.exercise import exercises
from lockstep.exercises.gpu import launches
from lockstep.experiments.gpu.on_gpu import OnGpu, beside, on_gpu
from lockstep.simt.launch import Launch, launch


def calls(without: str = "") -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """(kernel, (grid, block, arguments)): the reference of each exercise on a kernel, and its largest case. The kernel
    ``without`` is left out."""
    for exercise in exercises():
        if exercise.topic == "gpu" and exercise.run.watch_known is launches.watch:
            module, name = exercise.reference.split(":")
            given = [call for case in exercise.cases(1, 7) for call in exercise.inputs(case, 0)]
            if name != without:
                yield getattr(importlib.import_module(module), name), max(given, key=lambda call: elements(call[2]))


def elements(arguments: tuple[Any, ...]) -> int:
    return sum(np.size(argument) for argument in arguments)


def counted(without: str = "") -> Iterator[tuple[Launch, tuple[Any, ...]]]:
    """Each kernel on the warp machine: its counts, and the arguments as it leaves them."""
    for kernel, (grid, block, arguments) in calls(without):
        yield launch(kernel, grid, block, *arguments), arguments


def timed(repeats: int = 20, without: str = "") -> Iterator[tuple[OnGpu, tuple[Any, ...]]]:
    """The same on the GPU."""
    for kernel, (grid, block, arguments) in calls(without):
        yield on_gpu(kernel, grid, block, *arguments, repeats=repeats), arguments


def same(here: Sequence[Any], there: Sequence[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))


def main() -> int:
    wrong = 0
    for (counts, here), (times, there) in zip(counted(), timed(), strict=True):
        agree = same(here, there)
        print(beside(counts, times) + ("" if agree else ": THE ARRAYS DIFFER"), flush=True)
        wrong += not agree
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
