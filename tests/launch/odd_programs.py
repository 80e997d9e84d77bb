"""What learners' functions may well do, and what must not disturb a run: each once, with two ranks."""

import os
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.shared_memory import SharedMemory

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def good():
    x = torch.ones(2)
    dist.all_reduce(x)
    return x[0].item()


def starts_threads():
    with ThreadPoolExecutor(2) as pool:
        squares = list(pool.map(lambda v: v * v, range(4)))
    return squares, good()


def waits_for_a_thread():
    ready = threading.Event()
    threading.Thread(target=lambda: (time.sleep(0.05), ready.set())).start()
    ready.wait()
    return good()


def leaves_a_thread_running():
    threading.Thread(target=lambda: time.sleep(1000)).start()
    return good()


def a_thread_raises():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    return good()


def sleeps():
    time.sleep(0.2 * dist.get_rank())
    return good()


def deep_recursion():
    sys.setrecursionlimit(50_000)

    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    return count(10_000), good()


def endless_recursion():
    def again(n):
        return again(n + 1)

    return again(0)


def many_warnings():
    for i in range(5000):
        warnings.warn(f"careful {i}", stacklevel=1)
    return good()


def warnings_as_errors():
    warnings.simplefilter("error")
    return good()


def a_warning_as_an_error():
    warnings.simplefilter("error")
    warnings.warn("mine", stacklevel=1)


def prints_to_stderr():
    print("told", file=sys.stderr)
    return good()


def calls_what_torch_deprecates():
    whole = torch.zeros(2 * dist.get_world_size())
    dist.all_gather_into_tensor(whole, torch.ones(2))
    return good()


def closes_stdout():
    sys.stdout.close()
    return good()


def has_no_stdout():
    sys.stdout = None
    print("lost")
    return good()


def forks_and_both_return():
    """The other process must not be taken for the rank."""
    pid = os.fork()
    if pid == 0:
        return "the forked one"
    os.waitpid(pid, 0)
    return good()


def worker_processes():
    """On the virtual cluster, os._exit of a worker counted as the rank's own: the workers never ended."""
    loader = DataLoader(list(range(6)), batch_size=2, num_workers=1)
    return [batch.sum().item() for batch in loader], good()


def an_exception_that_cannot_be_told():
    class Shy(Exception):
        def __str__(self):
            raise ValueError("no")

    raise Shy


def an_endless_message():
    raise ValueError("y" * 10_000_000)


def a_value_that_cannot_be_opened():
    class Trap:
        def __reduce__(self):
            return eval, ("1/0",)

    return dist.get_rank() and Trap()


def a_value_that_ends_who_opens_it():
    """It ended the notebook: only an Exception was caught where the value is opened."""

    class Trap:
        def __reduce__(self):
            return sys.exit, ("bye",)

    return dist.get_rank() and Trap()


def a_large_value(megabytes):
    return torch.ones(megabytes * 250_000) if dist.get_rank() == 0 else None


def many_messages(n):
    x = torch.ones(1)
    for _ in range(n):
        dist.all_reduce(x)


def a_value_that_is_pickled_for_long():
    """As a gigabyte is on a busy machine: no line of the function's is being run."""
    read, _ = os.pipe()

    class Slow:
        __reduce_ex__ = staticmethod(partial(os.read, read))  # waits for bytes that do not come

    return Slow()


def leaves_shared_memory(name, end):
    """Two segments, of which one is unlinked as it should be."""
    SharedMemory(f"{name}-{dist.get_rank()}", create=True, size=100)
    SharedMemory(create=True, size=100).unlink()
    if end == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


def attaches(name):
    segment = SharedMemory(name)
    return bytes(segment.buf[:4])


def exits_with_success():
    if dist.get_rank() == 1:
        sys.exit(0)
    return "done"


def leaves_with_success():
    if dist.get_rank() == 1:
        os._exit(0)
    return "done"


def nests():
    from lockstep import run

    return run(good, ranks=2)


def interrupts_itself():
    raise KeyboardInterrupt
