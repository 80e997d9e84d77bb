"""torch's own cases of ``torch.distributed`` (``DistributedTest._DistTestBase``), for other worlds than they were
written for.

A case is a method that every rank calls. It expects ``self.rank``, ``self.world_size`` (a string) and an initialised
default group; the module reads some variables of the environment while it is imported. A case that cannot run here
leaves by ``unittest.SkipTest``, or with an exit status that stands for a reason.

    torch_cases.toml   what becomes of each case with gloo; which fare otherwise on the virtual cluster, and why
    gloo_cases         makes the first part, on processes
    test_torch_cases   runs on the virtual cluster what passes with gloo
"""

from __future__ import annotations

import os
import sys
import tempfile
import types
import unittest
from datetime import timedelta
from typing import Any

import torch.distributed as dist

A_MINUTE, ALL_CASES = timedelta(minutes=1), timedelta(minutes=9)


def module(ranks: int) -> Any:
    """torch's module of these cases, for so many ranks. Takes some seconds the first time: it loads the compiler."""
    if "TEMP_DIR" not in os.environ:
        directory = tempfile.mkdtemp()
        for folder in ("barrier", "test_dir", "init_dir"):
            os.mkdir(os.path.join(directory, folder))
        met = f"file://{directory}/init_dir/shared_init_file"
        os.environ.update(BACKEND="gloo", WORLD_SIZE=str(ranks), TEMP_DIR=directory, INIT_METHOD=met)
    try:
        import expecttest  # noqa: F401
    except ImportError:  # torch.testing needs its class to inherit from, and these cases nothing of it
        sys.modules["expecttest"] = types.ModuleType("expecttest")
        setattr(sys.modules["expecttest"], "TestCase", unittest.TestCase)  # noqa: B010
    from torch.testing._internal.distributed import distributed_test

    return distributed_test


def names(cases: Any) -> list[str]:
    return sorted(name for name in dir(cases.DistributedTest._DistTestBase) if name.startswith("test"))


def on_a_rank(asked: list[str]) -> None:
    """Run cases on this rank of the virtual cluster, and print what becomes of each: "test_barrier = passed"."""
    ranks = dist.get_world_size()
    cases = module(ranks)
    from torch.testing._internal.common_utils import TestCase, set_rng_seed

    class OnRank(cases.DistributedTest._DistTestBase, TestCase):  # type: ignore[misc]
        rank, world_size, done = dist.get_rank(), str(ranks), 0

        def _barrier(self, wait_for: int = ranks, timeout: float = 10) -> None:
            """torch's own counts the processes that have come; these ranks are threads of one."""
            meet(f"{self._testMethodName} {self.done}", wait_for, timedelta(seconds=timeout))
            self.done += 1

    for name in asked:
        if dist.is_initialized():
            dist.destroy_process_group()
        meet(f"before {name}", ranks, ALL_CASES)
        dist.init_process_group("gloo", timeout=A_MINUTE)
        set_rng_seed()
        print(f"{name} = {outcome(OnRank(name), cases)}")
        meet(f"after {name}", ranks, ALL_CASES)


def meet(where: str, number: int, timeout: timedelta) -> None:
    store: Any = dist.TCPStore("meeting", 0)
    if store.add(where, 1) == number:
        store.set(f"{where}: all", "")
    store.wait([f"{where}: all"], timeout)


def outcome(case: Any, cases: Any) -> str:
    try:
        getattr(case, case._testMethodName)()
    except unittest.SkipTest as skip:
        return f"skipped: {skip}"
    except SystemExit as end:
        return next((f"skipped: {s.message}" for s in cases.TEST_SKIPS.values() if s.exit_code == end.code), str(end))
    except Exception as error:
        return f"failed: {type(error).__name__}: {' '.join(str(error).split())}"[:400]
    return "passed"
