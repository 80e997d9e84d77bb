"""Who spent the CPU time: this thread, other threads, other processes. No test looks at the clock on the wall."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import psutil
import pytest

from lockstep import run
from lockstep.classical import usage as usages
from lockstep.classical.usage import Census, usage


def work(seconds: float = 0.15) -> None:
    """So many seconds of CPU time of the calling thread, outside the GIL."""
    numbers, begin = np.linspace(0, 1, 50_000), time.thread_time()
    while time.thread_time() - begin < seconds:
        np.tan(numbers)


def in_thread() -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_work_of_the_caller_is_its_own() -> None:
    spent = usage(work)
    assert spent.main >= 0.15
    assert spent.elsewhere < 0.1
    assert spent.workers == 1


def test_a_thread_that_has_ended_is_a_helper() -> None:
    spent = usage(in_thread)
    assert spent.helpers >= 0.1
    assert spent.main < 0.05
    assert spent.children < 0.05
    assert spent.elsewhere > 0.6


def test_threads_that_only_exist_have_done_nothing() -> None:
    over = threading.Event()
    sleeping = [threading.Thread(target=over.wait) for _ in range(4)]
    for thread in sleeping:
        thread.start()
    try:
        spent = usage(work)
    finally:
        over.set()
    assert spent.elsewhere < 0.1
    assert spent.workers == 1
    assert spent.threads >= 5


@pytest.mark.slow
def test_the_server_that_loads_torch_in_the_background_is_no_work_of_the_caller() -> None:
    """Lab 01's first cell, run at once, told `children` of a fit that starts no process."""
    name, work_of = usages.SERVER, "import sys, time\nwhile time.process_time() < 30: pass"
    server = subprocess.Popen([sys.executable, "-c", work_of, name, str(os.getpid())])
    try:
        until_it_has_worked(server.pid, 0.05)
        spent = usage(lambda: until_it_has_worked(server.pid, 0.2))
    finally:
        server.kill()
        server.wait()
    assert spent.children < 0.05


def until_it_has_worked(pid: int, seconds: float) -> None:
    before = time.monotonic()
    while psutil.Process(pid).cpu_times().user < seconds:
        assert time.monotonic() < before + 60


@pytest.mark.slow
def test_a_fork_of_a_rank_is_its_work() -> None:
    """A rank was forked by the server, and so are its own forks called: those of joblib did nothing, it seemed."""
    children = run(forked_work, ranks=1, on="processes").values[0]
    assert children >= 0.12


def forked_work() -> float:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return usage(lambda: pool.apply(work)).children


@pytest.mark.slow
def test_processes_count_while_they_live_and_when_they_have_ended() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        pool.apply(work, (0.0,))
        alive = usage(lambda: pool.apply(work))
    ended = usage(lambda: in_process(context))
    for spent in (alive, ended):
        assert spent.children >= 0.12
        assert spent.helpers < 0.12
        assert spent.elsewhere > 0.6


def test_what_a_child_did_before_the_call_does_not_count_when_it_ends_in_it() -> None:
    """A pool of the test before was collected during a fit: the fit was told to run in processes."""
    earlier = multiprocessing.get_context("fork").Pool(1)
    earlier.apply(work, (0.3,))

    def call() -> None:
        earlier.terminate()
        earlier.join()
        work()

    spent = usage(call)
    assert spent.children < 0.1
    assert spent.main >= 0.15


def in_process(context: multiprocessing.context.BaseContext) -> None:
    process = context.Process(target=work)  # type: ignore[attr-defined]
    process.start()
    process.join()


def test_two_threads_that_share_the_work_are_two_workers() -> None:
    def both() -> None:
        threads = [threading.Thread(target=work, args=(0.4,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert usage(both).workers == 2


def test_the_census_counts_threads_that_come_and_go() -> None:
    over = threading.Event()
    with Census() as census:
        before = census.most
        threads = [threading.Thread(target=over.wait) for _ in range(7)]
        for thread in threads:
            thread.start()
        while census.most < before + 7:  # the census looks every 0.01 s; pytest-timeout ends what never comes
            time.sleep(0.005)
        over.set()
        for thread in threads:
            thread.join()
    assert census.most >= before + 7


def test_no_worker_loads_torch_for_the_callers_filters_of_warnings() -> None:
    """scikit-learn hands them to its workers: a filter that names a class of torch would load all of torch there."""
    foreign = type("TracerWarning", (Warning,), {"__module__": "torch.jit._trace"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", foreign)
        seen: list[list[type[Warning]]] = []
        usage(lambda: seen.append([f[2] for f in warnings.filters]))
        assert foreign not in seen[0]
        assert foreign in [f[2] for f in warnings.filters]
