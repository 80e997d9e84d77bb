"""What a process keeps once, or each thread for itself: how to change it, and how to look at it.

``seen(row)`` runs on two ranks: rank 0 changes it, and both say whether they see a change.
"""

import builtins
import contextvars
import decimal
import gc
import linecache
import locale
import logging
import os
import random
import resource
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

NAME = "LOCKSTEP_TEST_ROW"
local, context = threading.local(), contextvars.ContextVar("row", default=0)
grown: list[int] = []


def umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def zone() -> None:
    os.environ["TZ"] = "Asia/Kolkata"
    time.tzset()


def lower_limit() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0 if resource.getrlimit(resource.RLIMIT_CORE)[0] else 1, most))


ROWS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    # of each rank
    "`random`'s numbers": (lambda: random.seed(77), random.getstate),
    "NumPy's numbers": (lambda: np.random.seed(77), lambda: np.random.get_state()[1].tolist()),
    "torch's numbers": (lambda: torch.manual_seed(77), lambda: torch.get_rng_state().tolist()),
    "the default dtype": (lambda: torch.set_default_dtype(torch.float64), torch.get_default_dtype),
    "whether gradients are on": (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled),
    "`threading.local`": (lambda: setattr(local, "x", 1), lambda: getattr(local, "x", 0)),
    "context variables": (lambda: context.set(1), context.get),
    "`decimal`'s precision": (lambda: setattr(decimal.getcontext(), "prec", 5), lambda: decimal.getcontext().prec),
    "`numpy.seterr`": (lambda: np.seterr(over="raise"), np.geterr),
    "NumPy's print options": (lambda: np.set_printoptions(precision=3), lambda: np.get_printoptions()["precision"]),
    "modules of your own": (lambda: grown.append(1), lambda: len(grown)),
    # of the process
    "`os.environ`": (lambda: os.environ.update({NAME: "1"}), lambda: os.environ.get(NAME)),
    "the current directory": (lambda: os.chdir("/"), os.getcwd),
    "the umask": (lambda: os.umask(0o027), umask),
    "`sys.path`": (lambda: sys.path.append("/nowhere"), lambda: len(sys.path)),
    "`sys.argv`": (lambda: sys.argv.append("--row"), lambda: len(sys.argv)),
    "the limit of recursion": (lambda: sys.setrecursionlimit(5000), sys.getrecursionlimit),
    "the number of threads": (lambda: torch.set_num_threads(2), torch.get_num_threads),
    "warning filters": (lambda: warnings.simplefilter("error"), lambda: warnings.filters[0][0]),
    "loggers": (lambda: logging.getLogger("row").setLevel(7), lambda: logging.getLogger("row").level),
    "the locale": (lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"), lambda: locale.setlocale(locale.LC_NUMERIC)),
    "the time zone": (zone, lambda: time.localtime(0).tm_hour),
    "limits of resources": (lower_limit, lambda: resource.getrlimit(resource.RLIMIT_CORE)),
    "open files": (lambda: os.dup2(1, 777), lambda: os.path.exists("/proc/self/fd/777")),
    "the garbage collector": (gc.disable, gc.isenabled),
    "`torch.use_deterministic_algorithms`": (
        lambda: torch.use_deterministic_algorithms(True),
        torch.are_deterministic_algorithms_enabled,
    ),
    "torch's print options": (lambda: torch.set_printoptions(precision=2), lambda: str(torch.tensor(1 / 3))),
    "`torch.backends`": (
        lambda: setattr(torch.backends.cudnn, "benchmark", True),
        lambda: torch.backends.cudnn.benchmark,
    ),
    "patches of torch": (lambda: setattr(dist, "row", 1), lambda: hasattr(dist, "row")),
    "patches of installed packages": (lambda: setattr(np, "row", 1), lambda: hasattr(np, "row")),
    "patches of Python's library": (lambda: setattr(linecache, "row", 1), lambda: hasattr(linecache, "row")),
    "`builtins`": (lambda: setattr(builtins, "row", 1), lambda: hasattr(builtins, "row")),
    "the folder of `tempfile`": (lambda: setattr(tempfile, "tempdir", "/"), lambda: tempfile.tempdir),
}


def seen(row: str) -> bool:
    """Whether this rank sees the change that rank 0 has made."""
    change, look = ROWS[row]
    before = look()
    dist.barrier()
    if dist.get_rank() == 0:
        change()
    dist.barrier()
    after = look()
    dist.barrier()
    return bool(before != after)
