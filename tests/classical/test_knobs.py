"""One knob up, the others at 1; and idle threads that sleep, so that what burns CPU time is work."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from lockstep.classical.knobs import SLEEPING, measuring, turned

np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded


def threads(api: str) -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == api}


def test_the_knobs_are_turned_and_turned_back() -> None:
    before = threads("blas")
    with turned(openmp=1, blas=2):
        assert threads("blas") == {2}
        assert threads("openmp") <= {1}
    assert threads("blas") == before


def test_a_fit_is_given_n_jobs() -> None:
    given = []
    measure = measuring(given.append)
    measure()
    measure(n_jobs=3)
    measure(openmp=2, blas=2)
    assert given == [1, 3, 1]


IDLE = """
import time
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
a = np.random.default_rng(0).random((400, 400))
burnt = 0.0
with threadpool_limits(2, user_api="blas"):
    for _ in range(10):
        a @ a
        begin = time.process_time()
        time.sleep(0.03)
        burnt += time.process_time() - begin
print(burnt, [pool["internal_api"] for pool in threadpool_info()])
"""


def test_idle_threads_of_blas_sleep_where_the_audit_measures() -> None:
    """Once, helpers had "done" 0.05 s of a fit that was serial: idle threads of OpenBLAS had spun."""
    environment = {**os.environ, **SLEEPING}
    done = subprocess.run([sys.executable, "-c", IDLE], env=environment, capture_output=True, text=True, timeout=120)
    burnt, libraries = done.stdout.split(maxsplit=1)
    if "openblas" not in libraries:
        pytest.skip("NumPy has another BLAS here")
    assert float(burnt) < 0.03, done.stdout  # of 0.3 s; threads that spin burn 0.1 s and more
