"""Starting processes that have torch loaded already: forked by a server (Linux), or kept warm (elsewhere).

Nothing is started until the first call, or until ``begin`` is told that one will come. A later one costs a few
milliseconds a process; less where it is like the last one, for which spares wait (``preforked``, ``spawned``).
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
from collections.abc import Iterable, Iterator, Mapping
from multiprocessing.connection import Pipe, wait

from lockstep.errors import WorldUnavailable
from lockstep.forking.child import SECRETS, STATUS, Child, setup
from lockstep.forking.request import BACK, LOAD, LOADED, READY, Request
from lockstep.forking.spawned import ONE_THREAD, Spares, server_environment
from lockstep.launch.interrupt import undisturbed

_START_LIMIT = 180.0  # seconds for torch to load on a slow disk
_FORK_LIMIT = 20.0  # seconds for a fork, after which the server counts as stopped


class Forked:
    """The starter's side of the fork server. One for a process; not shared with its forks.

    It loads torch by itself: ``wait_until_ready`` before ``start``."""

    def __init__(self) -> None:
        self._ready = False
        self._loaded: set[str] = set()
        self._owed = 0  # answers to what was asked to be loaded
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
        """Raises WorldUnavailable when it does not come up. Here Ctrl-C may come: it goes on loading."""
        if self._ready:
            return
        self._await(READY)
        self._ready = True

    def load(self, modules: Iterable[str]) -> None:
        """Have it load them, once, so that its children need not. One that cannot be imported is left to them. Raises
        WorldUnavailable when the server ends, or takes too long. Here Ctrl-C may come."""
        for module in modules:
            if module not in self._loaded:
                self._loaded.add(module)
                self._owed += 1
                socket.send_fds(self._socket, [Request(module, LOAD, 0).packed()], [])
        while self._owed:
            self._await(LOADED)
            self._owed -= 1

    def _await(self, expected: bytes) -> None:
        self._socket.settimeout(_START_LIMIT)
        try:
            answer = self._socket.recv(16)
        except TimeoutError:
            raise WorldUnavailable(
                f"The process that starts ranks did not come up within {_START_LIMIT:.0f} s."
            ) from None
        if answer != expected:
            self._log.seek(0)
            said = self._log.read().decode(errors="replace").strip().splitlines() or ["it ended at once"]
            raise WorldUnavailable(f"The process that starts ranks did not come up: {said[-1]}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def start(self, entry: str, n: int, told: bytes, started: list[Child]) -> None:
        """``n`` children that run ``entry``, put into ``started`` as they come. Raises OSError when the machine gives
        no more processes or files."""
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
        """Ask for one child: it gets the other ends of what is made here."""
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
        """Which process it is."""
        if not wait([child.fileno()], _FORK_LIMIT):
            self._process.kill()
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
        if not self._ready:  # it loads, and does not listen
            self._process.kill()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def forget(self) -> None:
        """In a fork of the starter: the server belongs to the other one."""
        self._socket.close()
        self._process.returncode = 0


class Inherited(Forked):
    """The same, for a server that is a fork of this process, which has torch loaded and one thread: it is there at
    once. What this process learns later, its children never see."""

    def __init__(self) -> None:
        self._ready, self._loaded, self._owed = False, set(), 0
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
    """A process that this one has forked, with what its starter asks of one that it has spawned."""

    def __init__(self, pid: int) -> None:
        self.pid, self.returncode = pid, None
        self.args, self.stdin, self.stdout, self.stderr = "", None, None, None
        self._waitpid_lock, self._child_created = threading.Lock(), True


def _serve(control: socket.socket, starter: int, log: int) -> None:
    """What ``python -m lockstep.forking.forkserver`` does, in a process that has loaded everything already."""
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
    """A file of its own for ``content``, in memory, that is read from its beginning."""
    file = os.memfd_create("told")
    with open(file, "wb", closefd=False) as whole:
        whole.write(content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def forks() -> bool:
    """Whether children are forked here; LOCKSTEP_START=spawn (or fork) decides otherwise."""
    return os.environ.get("LOCKSTEP_START", "fork" if sys.platform == "linux" else "spawn") == "fork"


class Starter:
    """Starts children, by whatever means this machine has, lazily; safe for threads and after a fork."""

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
            except BrokenPipeError:  # the server was killed since: a new one, once
                self._drop()
                return self._start(entry, n, told)

    def begin(self) -> None:
        """Have the server load torch from now on, and do not wait for it. What goes wrong is told by the first run."""
        with self._lock, contextlib.suppress(OSError):
            self._begun()

    def inherit(self) -> None:
        with self._lock:
            self._drop()
            self._server = Inherited()

    def warm_up(self, modules: Iterable[str] = ()) -> None:
        """What ``start`` does first, and takes long: have a server that has torch loaded, and these modules. Here
        Ctrl-C may come."""
        with self._lock:
            server = self._running()
            try:
                server.load(modules)
            except (WorldUnavailable, OSError):  # it has ended: children of the next one load them for themselves
                self._drop()

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
            self._drop()
        self._server = self._server or (Forked() if forks() else Spares())
        return self._server

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
    """Have a fork of this process start its children: one that has torch loaded, has one thread, and has not yet seen
    what they must not see."""
    _starter.inherit()


def load_here() -> None:
    """In a process that has only just begun, and is there for what its ranks do: load torch here, and not once more in
    a server, which is a fork of this process. Nothing where torch is loaded, where processes are not forked, or where
    this one began with a secret: it would lie in the memory of its forks."""
    if not forks() or "torch" in sys.modules or not os.environ.keys().isdisjoint(SECRETS):
        return
    before = dict(os.environ)
    os.environ.update(ONE_THREAD)
    importlib.import_module("lockstep.forking.forkserver").preload()
    os.environ.clear()
    os.environ.update(before)
    inherit()


def begin() -> None:
    """A run will come: have a server load torch meanwhile. It takes some milliseconds, prints and raises nothing."""
    _starter.begin()


def warm_up(modules: Iterable[str] = ()) -> None:
    """What ``start`` does first: have a server that has torch loaded. ``modules``: of this package, that the children
    to come need, with whatever these import; the server has them loaded from now on, too."""
    _starter.warm_up(modules)


@contextlib.contextmanager
def started(entry: str, n: int) -> Iterator[list[Child]]:
    """``start``, for as long as the block lasts: however it ends, Ctrl-C included, no process is left."""
    children: list[Child] = []
    warm_up()
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

    They have this process's directory, import path and environment (with ``env`` over it), and one thread each.
    Raises WorldUnavailable when the machine gives no more processes, files or memory.
    """
    return _starter.start(entry, n, env)
