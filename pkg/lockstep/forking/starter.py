"""Starting processes that have torch loaded already: forked by a server (Linux), or spawned ahead of time (elsewhere).

Nothing is started before the first call of ``start`` or ``begin``. Later calls take a few milliseconds per process, and
less if the call is like the last one, for which spares are kept (``preforked``, ``spawned``).
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing.connection import Pipe, wait

from lockstep.errors import WorldUnavailable
from lockstep.forking.child import SECRETS, STATUS, Child, is_stopped, setup
from lockstep.forking.fork_request import BACK, LOAD, LOADED, READY, Request
from lockstep.forking.spawned import ONE_THREAD, Spares, server_environment
from lockstep.launch.interrupt import undisturbed

_START_LIMIT = 180.0  # seconds for torch to load on a slow disk
_FORK_LIMIT = 20.0  # seconds for a fork, after which the server is considered lost
_GLANCE = 0.25  # seconds between two looks whether it is stopped
_STOPS = 3  # looks in a row that find it stopped, until it is replaced
_LOST = "lockstep: The process that starts ranks was killed or stopped. Another one loads torch, which takes a while."


class Forked:
    """The starter's side of the fork server. One per process, and not shared with its forks.

    The server loads torch in the background: call ``wait_until_ready`` before ``start``."""

    def __init__(self) -> None:
        self.ready = False
        self._loaded: set[str] = set()
        self._owed = 0  # outstanding answers to LOAD requests
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = os.fdopen(os.memfd_create("server-log"), "w+b")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "lockstep.forking.forkserver", str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Wait until it has loaded torch. Raises WorldUnavailable if it does not come up. May be interrupted by Ctrl-C,
        in which case it continues loading."""
        if self.ready:
            return
        self._await(READY)
        self.ready = True

    def load(self, modules: Iterable[str]) -> None:
        """Let the server import modules once, so that its children need not. One that cannot be imported is left to
        them. Raises WorldUnavailable if the server ends, or takes too long. May be interrupted by Ctrl-C."""
        for module in modules:
            if module not in self._loaded:
                self._loaded.add(module)
                self._owed += 1
                socket.send_fds(self._socket, [Request(module, LOAD, 0).packed()], [])
        while self._owed:
            self._await(LOADED)
            self._owed -= 1

    def _await(self, expected: bytes) -> None:
        if not self._comes(self._socket.fileno(), _START_LIMIT):
            within = f"within {_START_LIMIT:.0f} s, or something has stopped it"
            raise WorldUnavailable(f"The process that starts ranks did not come up {within}.")
        answer = self._socket.recv(16)
        if answer != expected:
            self._log.seek(0)
            said = self._log.read().decode(errors="replace").strip().splitlines() or ["it ended at once"]
            raise WorldUnavailable(f"The process that starts ranks did not come up: {said[-1]}")

    def _comes(self, answer: int, limit: float) -> bool:
        """Wait until there is something to be read from ``answer``. After ``limit`` seconds, or when the server has
        been stopped for a while, kill it, and return False."""
        until, stopped = time.monotonic() + limit, 0
        while time.monotonic() < until and stopped <= _STOPS:
            if wait([answer], _GLANCE):
                return True
            stopped = stopped + 1 if is_stopped(self.pid) else 0
        self._process.kill()
        return False

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def start(self, entry: str, n: int, told: bytes, started: list[Child]) -> None:
        """Start ``n`` children that run ``entry``, appended to ``started``. Raises OSError if the machine is out of
        processes or files."""
        try:
            for index in range(n):
                started.append(self._ask(Request(entry, index, n), told))
        except OSError:
            socket.send_fds(self._socket, [Request(entry, BACK, n).packed()], [])
            for child in started:
                with contextlib.suppress(OSError):
                    self._hear(child)
            raise
        for index, child in enumerate(started):
            try:
                self._hear(child)
            except OSError:
                for late in [started.pop() for _ in range(n - index)]:
                    late.close()
                raise
        for child in started:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                child.conn.send_bytes(told)

    def _ask(self, request: Request, told: bytes) -> Child:
        """Request one child, which gets the other ends of the connections created here."""
        ours, theirs = Pipe(duplex=True)
        with contextlib.ExitStack() as undo:
            undo.callback(theirs.close)
            log = os.memfd_create("rank-log")
            status, report = os.pipe()
            undo.callback(os.close, report)
            child = Child(0, ours, status, f"/proc/self/fd/{log}", lambda: os.close(log))
            files = [theirs.fileno(), log, report]
            if request.index == 0:
                files.append(memory(told))
                undo.callback(os.close, files[-1])
            socket.send_fds(self._socket, [request.packed()], files)
        return child

    def _hear(self, child: Child) -> None:
        """Receive the pid of a requested child."""
        if not self._comes(child.fileno(), _FORK_LIMIT):
            raise BrokenPipeError("the server has stopped")
        answer = os.read(child.fileno(), STATUS.size)
        if len(answer) < STATUS.size:
            raise BrokenPipeError("the server has ended")
        pid = STATUS.unpack(answer)[0]
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        child.pid = pid

    def close(self) -> None:
        self._socket.close()
        if not self.ready:  # still loading, it would not notice
            self._process.kill()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def forget(self) -> None:
        """In a fork of the starter: drop the server, which belongs to the original process."""
        self._socket.close()
        self._process.returncode = 0


class Inherited(Forked):
    """A fork server that is a fork of this process, which has torch loaded and one thread. It is ready at once, and its
    children never see data that this process gets later."""

    def __init__(self) -> None:
        self.ready, self._loaded, self._owed = False, set(), 0
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = os.fdopen(os.memfd_create("server-log"), "w+b")
        starter = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._socket.close()
            _serve(theirs, starter, self._log.fileno())
        theirs.close()
        self._process = _Fork(pid)


class _Fork(subprocess.Popen[bytes]):
    """A forked process with the interface of subprocess.Popen."""

    def __init__(self, pid: int) -> None:
        self.pid, self.returncode = pid, None
        self.args, self.stdin, self.stdout, self.stderr = "", None, None, None
        self._waitpid_lock, self._child_created = threading.Lock(), True


def _serve(control: socket.socket, starter: int, log: int) -> None:
    """The main function of ``lockstep.forking.forkserver``, in a process that has loaded everything already."""
    from lockstep.forking.forkserver import Server

    try:
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        Server(control, starter, spares=False).run()
    finally:
        os._exit(1)


def memory(content: bytes) -> int:
    """The descriptor of an in-memory file with ``content``, at offset 0."""
    file = os.memfd_create("told")
    with open(file, "wb", closefd=False) as whole:
        whole.write(content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def forks() -> bool:
    """Whether children are forked: by default on Linux only; LOCKSTEP_START=spawn or fork overrides it."""
    return os.environ.get("LOCKSTEP_START", "fork" if sys.platform == "linux" else "spawn") == "fork"


class Starter:
    """Starts children by a fork server or by spawning, lazily. Thread-safe, and usable after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: Forked | Spares | None = None
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._after_fork)

    def start(self, entry: str, n: int, env: Mapping[str, str] | None = None) -> list[Child]:
        told = setup(entry, env)
        with self._lock:
            try:
                return self._start(entry, n, told)
            except BrokenPipeError:  # the server was killed meanwhile: retry once with a new one
                self._replace()
                return self._start(entry, n, told)

    def begin(self) -> None:
        """Start the server without waiting for it. Errors are reported by the first run."""
        with self._lock, contextlib.suppress(OSError):
            self._begun()

    def inherit(self) -> None:
        with self._lock:
            self._drop()
            self._server = Inherited()

    def warm_up(self, modules: Iterable[str] = ()) -> None:
        """The slow first part of ``start``: wait for a server that has loaded torch and ``modules``. May be interrupted
        by Ctrl-C."""
        with self._lock:
            server = self._running()
            try:
                server.load(modules)
            except (WorldUnavailable, OSError):  # it has ended: children of the next one import them themselves
                self._replace()

    def _start(self, entry: str, n: int, told: bytes) -> list[Child]:
        started: list[Child] = []
        try:
            self._running().start(entry, n, told, started)
        except BrokenPipeError:
            for child in started:
                child.close()
            raise
        except OSError as error:
            for child in started:
                child.close()
            raise WorldUnavailable(
                f"This machine refused process {len(started) + 1} of {n}: {error.strerror}."
            ) from None
        return started

    def _running(self) -> Forked | Spares:
        server = self._begun()
        try:
            server.wait_until_ready()
        except WorldUnavailable:
            self._drop()
            raise
        return server

    def _begun(self) -> Forked | Spares:
        if self._server and not self._server.alive():
            self._replace()
        self._server = self._server or (Forked() if forks() else Spares())
        return self._server

    def _replace(self) -> None:
        """Drop a server that was killed or stopped, and say so, since its successor takes long to come."""
        if self._server and self._server.ready:
            print(_LOST, file=sys.stderr, flush=True)
        self._drop()

    def _drop(self) -> None:
        if self._server:
            self._server.close()
        self._server = None

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        if self._server:
            self._server.forget()
        self._server = None


_starter = Starter()


def inherit() -> None:
    """Use a fork of this process as the fork server. This process must have torch loaded, only one thread, and no
    secrets yet."""
    _starter.inherit()


def load_here(rare: bool = True, more: Callable[[], Iterable[str]] = tuple) -> None:
    """For a process that has just started: load torch here, and use a fork of this process as the server, so that torch
    is loaded only once. ``rare``: what few runs need, too, as this process may need it; else it is left to the server,
    for a run that needs it. ``more()``: modules that both need, asked for once torch is there. Does nothing if torch is
    loaded already, if processes are not forked, or if the environment contains a secret, which would be in the memory
    of all forks."""
    if not forks() or "torch" in sys.modules or not os.environ.keys().isdisjoint(SECRETS):
        return
    before = dict(os.environ)
    os.environ.update(ONE_THREAD)
    preloaded = importlib.import_module("lockstep.forking.preloaded")
    preloaded.preload()
    preloaded.load((*(preloaded.RARE if rare else ()), *more()))
    os.environ.clear()
    os.environ.update(before)
    inherit()


def begin() -> None:
    """Start the server in the background, ahead of the first run. Returns within milliseconds, and never raises."""
    _starter.begin()


def warm_up(modules: Iterable[str] = ()) -> None:
    """The slow first part of ``start``: wait for a server that has torch loaded. ``modules``: modules of this package
    that children will need; the server imports them as well."""
    _starter.warm_up(modules)


@contextlib.contextmanager
def started(entry: str, n: int, modules: Iterable[str] = ()) -> Iterator[list[Child]]:
    """A context with ``n`` started processes, for which ``modules`` have been loaded. However it ends, even by Ctrl-C,
    no process is left over."""
    children: list[Child] = []
    warm_up(modules)
    try:
        with undisturbed():
            children += start(entry, n)
        yield children
    finally:
        with undisturbed():
            for child in children:
                child.kill()
            for child in children:
                child.close(patience=0)


def start(entry: str, n: int, env: Mapping[str, str] | None = None) -> list[Child]:
    """Start ``n`` processes that each call ``entry`` ("module:function") with a connection to this process.

    They have this process's directory, import path and environment (updated by ``env``), and one thread each. Raises
    WorldUnavailable if the machine is out of processes, files or memory.
    """
    return _starter.start(entry, n, env)
