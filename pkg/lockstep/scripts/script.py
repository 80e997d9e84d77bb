"""A script: the file or module that each rank executes as its ``__main__``, as ``python`` would."""

from __future__ import annotations

import builtins
import functools
import importlib.util
import os
import sys
import sysconfig
import threading
from dataclasses import dataclass
from importlib.abc import InspectLoader
from types import CodeType, ModuleType
from typing import Any

import torch.distributed as dist

from lockstep.comm.exits import Left
from lockstep.record import started_threads
from lockstep.scripts import exit_handlers, spawned_processes

# What torchrun sets beside comm.rank_variables. It has no TORCHELASTIC_ERROR_FILE here: its own reports need that.
LAUNCHED = {
    "ROLE_NAME": "default",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_MAX_RESTARTS": "0",
    "TORCHELASTIC_USE_AGENT_STORE": "False",
    "TORCHELASTIC_SIGNALS_TO_HANDLE": "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
}
CHOSEN = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1", "OMP_NUM_THREADS": "1"}  # unless the caller has set them


@dataclass(frozen=True)
class Script:
    """``name``: a file, or with ``is_module`` a module as of ``python -m``; ``arguments``: what follows it."""

    name: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False

    def __call__(self) -> None:
        """Execute the script as this rank's ``__main__``, then its exit handlers. Raises what the script raises, and
        Left where it ends with an exit status that is not 0."""
        self._become_its_process()
        try:
            self._execute()
        except SystemExit as end:
            if status := status_of(end):
                raise Left(status).with_traceback(end.__traceback__) from None
        finally:
            started_threads.join_those_of(threading.current_thread())
            exit_handlers.run()

    def _become_its_process(self) -> None:
        """As after its start: torchrun's variables, and no process group yet, whoever asks for one too early."""
        os.environ.update(LAUNCHED)
        for name, value in CHOSEN.items():
            os.environ.setdefault(name, value)
        spawned_processes.install(spawned_processes.as_ranks)
        dist.destroy_process_group()
        first = os.getcwd() if self.is_module else os.path.dirname(os.path.realpath(self.name))
        sys.path = [first, *without_our_own(sys.path)]
        sys.argv = [self.name, *self.arguments]

    def _execute(self) -> None:
        if self.is_module:
            spec, code = found(self.name)
            about: dict[str, Any] = {"__spec__": spec, "__package__": spec.parent, "__loader__": spec.loader}
            sys.argv[0] = file = spec.origin or self.name
        else:
            file = os.path.abspath(self.name)
            code, about = compiled(file), {"__spec__": None, "__package__": None}
        space = vars(own_main())
        about |= {"__name__": "__main__", "__file__": file, "__cached__": None, "__annotations__": {}}
        space.update(about, __builtins__=builtins)
        exec(code, space)


def status_of(end: SystemExit) -> int:
    """The exit status of a process that ends so. A text is printed, and means 1."""
    if end.code is None or isinstance(end.code, int):
        return (end.code or 0) & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def without_our_own(path: list[str]) -> list[str]:
    """``sys.path`` without its first entry where that is only there because of how this command was started: a script
    would not find what it finds here, if torchrun started it."""
    ours = ("", os.getcwd(), sysconfig.get_path("scripts"))
    return path[1:] if path and path[0] in ours else path


@functools.cache
def compiled(file: str) -> CodeType:
    """The code of a file, which ranks of one process share."""
    with open(file, "rb") as source:
        return compile(source.read(), file, "exec", dont_inherit=True)


def found(name: str) -> tuple[Any, CodeType]:
    """The spec and the code of a module, or of the ``__main__`` of a package. Raises ModuleNotFoundError."""
    spec = importlib.util.find_spec(name)
    if spec and spec.submodule_search_locations is not None:
        return found(f"{name}.__main__")
    code = spec.loader.get_code(name) if spec and isinstance(spec.loader, InspectLoader) else None
    if code is None:
        raise ModuleNotFoundError(f"No module named {name}", name=name)
    return spec, code


def own_main() -> ModuleType:
    """This rank's ``__main__``. On the virtual cluster ``sys.modules`` has one that differs by rank."""
    main = sys.modules["__main__"]
    if type(main) is ModuleType:
        sys.modules["__main__"] = main = ModuleType("__main__")
    return main
