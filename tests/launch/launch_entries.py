"""Entry points for the tests of the fork server."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection


def tell(conn: Connection) -> None:
    threads = sorted(sys.modules).count("torch")
    conn.send(
        {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "session": os.getsid(0),
            "cwd": os.getcwd(),
            "path": sys.path,
            "fruit": os.environ.get("FRUIT"),
            "torch": bool(threads),
            "main": sys.modules["__main__"].__file__ if hasattr(sys.modules["__main__"], "__file__") else None,
            "interrupt": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
            "files": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
        }
    )


def told_modules(conn: Connection) -> None:
    """Which modules are loaded."""
    conn.send(sorted(sys.modules))


def echo(conn: Connection) -> None:
    while True:
        conn.send(conn.recv())


def noisy(conn: Connection) -> None:
    os.write(1, b"from C: one\n")
    os.write(2, b"from C: two\n")


def sleep(conn: Connection) -> None:
    conn.send(os.getpid())
    time.sleep(600)


def with_grandchild(conn: Connection) -> None:
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    conn.send(pid)
    conn.recv()


def with_daemons(conn: Connection) -> None:
    """Starts a process in a session of its own, and one whose parent ends at once, as daemons do."""
    alone = subprocess.Popen(["sleep", "600"], start_new_session=True)
    orphan = subprocess.run(["sh", "-c", "setsid sleep 600 >/dev/null & echo $!"], stdout=subprocess.PIPE, text=True)
    conn.send([alone.pid, int(orphan.stdout)])
    if conn.recv() == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


def leave(conn: Connection) -> None:
    sys.exit(conn.recv())


def fail(conn: Connection) -> None:
    raise ValueError("said in the log")


def suicide(conn: Connection) -> None:
    os.kill(os.getpid(), conn.recv())
    time.sleep(600)


def prepare(seat: object) -> None:
    """Makes spares of this module's entries: they wait in here."""
