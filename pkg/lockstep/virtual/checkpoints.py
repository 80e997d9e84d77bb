"""torch's checkpoints that are saved in the background: ``torch.distributed.checkpoint.async_save``.

torch lets a thread do it, which communicates: its ranks agree on who writes what. Here such a thread could not tell
when, in virtual time, it does so. So the rank saves in its own thread, at once: the files, the messages and the group
are those of a real run, and the future is done when ``async_save`` returns. What is lost is the overlap. And a program
in which one rank calls ``async_save`` before a collective of the same ranks, and another one after it, is a deadlock
here.

Private API of torch, for 2.13 to 2.15: the modules of its two executors, which submit a save to a ThreadPoolExecutor.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from lockstep.errors import UsageError
from lockstep.virtual import rank_threads

BY_THREAD = "torch.distributed.checkpoint._async_thread_executor"
BY_PROCESS = "torch.distributed.checkpoint._async_process_executor"


def install() -> None:
    """Let ranks save their checkpoints themselves. Once in a process."""
    submit: Callable[..., Any] = ThreadPoolExecutor.submit

    def submitting(executor: ThreadPoolExecutor, act: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        module = getattr(act, "__module__", "")
        if module == BY_PROCESS:
            told = "async_save would start a process for each rank (AsyncCheckpointerType.PROCESS)."
            raise UsageError(told, 'The virtual cluster has threads only: leave that out, or run it on="processes".')
        if module == BY_THREAD and rank_threads.current() is not None:
            return at_once(act, *args, **kwargs)
        return submit(executor, act, *args, **kwargs)

    setattr(ThreadPoolExecutor, "submit", submitting)  # noqa: B010


def at_once(act: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """The future of an act that has been done already, in the calling thread."""
    future: Future[Any] = Future()
    try:
        future.set_result(act(*args, **kwargs))
    except BaseException as error:  # as an executor does: a CheckpointException is one
        future.set_exception(error)
    return future
