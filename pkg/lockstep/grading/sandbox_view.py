"""What a sandbox sees of the machine: Python, the system's libraries and Lockstep, all read-only, and nothing else.

::

    /usr /lib … sys.prefix sys.base_prefix, the folder of this package     the machine's, read-only
    /etc                                                                   a few files, most of them made up
    /proc /dev /sys/devices/system/cpu                                     its own, or harmless
    /tmp /dev/shm                                                          in memory, empty, of a limited size

No home, no course, no submissions, no gradebook, no exchange: they are not hidden, they are not there.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lockstep.grading import syscalls as kernel

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/sys/devices/system/cpu", "/sys/devices/system/node")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "alternatives")
DEVICES = ("null", "zero", "full", "random", "urandom")
WRITTEN = {
    "passwd": "learner:x:{user}:{user}::/tmp:/bin/sh\n",
    "group": "learner:x:{user}:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
OLD, NEW = "/old", "/new"  # while the view is made
PLACES = ("/tmp", "/mnt", "/media", "/srv", "/opt", "/home")  # in one of which it is made
MEMORY = ("/tmp", "/dev/shm")


@dataclass(frozen=True)
class View:
    """``shown``: paths of this machine that are seen, at their own place; ``covered``: folders in them that are empty
    there; ``replaced``: files in them that hold something else there. ``room``: bytes of /tmp, and as many of
    /dev/shm."""

    shown: tuple[str, ...]
    covered: tuple[str, ...] = ()
    replaced: tuple[tuple[str, bytes], ...] = ()
    user: int = 1000
    room: int = 512 << 20

    def enter(self) -> None:
        """Make it the root of this process, which has mounts of its own, and let go of the old one."""
        kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
        place = self._free_place()
        kernel.mount("tmpfs", place, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "size=8m,mode=755")
        os.mkdir(place + OLD)
        kernel.pivot_root(place, place + OLD)
        os.chdir("/")
        os.mkdir(NEW)
        kernel.mount("tmpfs", NEW, "tmpfs", kernel.NO_SUID, "size=4m,mode=755")
        above, below = around_memory(self.shown)
        for path in above:
            _show(path)
        _write_etc(self.user)
        _make_places()
        _cover(self.covered)
        replaced = dict(self.replaced)
        low = around_memory(list(replaced))[1]
        _replace({path: content for path, content in replaced.items() if path not in low})
        kernel.make_read_only(NEW)  # all so far; what follows is laid over it
        for device in DEVICES:
            kernel.mount(f"{OLD}/dev/{device}", f"{NEW}/dev/{device}", flags=kernel.BIND)
        hidden = kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_PROGRAMS
        kernel.mount("proc", f"{NEW}/proc", "proc", hidden)
        for folder in MEMORY:
            options = f"size={self.room},mode=1777,nr_inodes=100000"
            kernel.mount("tmpfs", NEW + folder, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, options)
        for path in below:
            _show(path)
        _cover(around_memory(self.covered)[1])
        _replace({path: replaced[path] for path in low})
        for path in below:
            if not os.path.islink(NEW + path):
                kernel.make_read_only(NEW + path)
        os.chdir(NEW)
        kernel.pivot_root(".", ".")
        kernel.detach(".")
        os.chdir("/tmp")

    def _free_place(self) -> str:
        """A folder of this machine in which nothing is that is shown."""
        for place in PLACES:
            if os.path.isdir(place) and not any(lies_in(p, place) for p in self.shown):
                return place
        raise FileNotFoundError(errno.ENOENT, "no folder to make the view in", PLACES[0])


def view(private: tuple[str, ...] = (), withheld: Mapping[str, bytes] = MappingProxyType({})) -> View:
    """For this Python and this Lockstep. ``private``: folders that must not be seen, wherever they lie; ``withheld``:
    files, with what is seen in their place."""
    package = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    wanted = [*SYSTEM, *(f"/etc/{name}" for name in ETC), sys.prefix, sys.base_prefix, sys.exec_prefix]
    inside = (*{os.path.realpath(p) for p in (sys.prefix, sys.base_prefix)}, "/usr")
    if not any(lies_in(package, folder) for folder in inside):
        wanted.append(os.path.join(package, "lockstep"))
    covered = (*map(os.path.realpath, private), os.path.join(package, "lockstep", "material"))
    shown = tuple(_outermost([p for p in wanted if os.path.lexists(p)]))
    return View(shown, covered, tuple(sorted(withheld.items())))


def around_memory(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Paths outside of the folders that are in memory, and paths in them: an environment that somebody made in
    /tmp, say, which can be shown only once these are there."""
    below = [p for p in paths if any(lies_in(p, folder) for folder in MEMORY)]
    return [p for p in paths if p not in below], below


def lies_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _outermost(paths: list[str]) -> Iterator[str]:
    """Without paths inside of another one. A link is shown as one; where it leads to must be among them, too."""
    plain = sorted({p for path in paths for p in (path, os.path.realpath(path))})
    folders = [p for p in plain if not os.path.islink(p)]
    for path in plain:
        if not any(path != folder and lies_in(path, folder) for folder in folders):
            yield path


def _show(path: str) -> None:
    """In the new root, at its own place."""
    old, new = OLD + path, NEW + path
    os.makedirs(os.path.dirname(new), exist_ok=True)
    if os.path.islink(old):
        os.symlink(os.readlink(old), new)
        return
    if os.path.isdir(old):
        os.makedirs(new, exist_ok=True)
    else:
        open(new, "x").close()
    kernel.mount(old, new, flags=kernel.BIND | kernel.RECURSIVE)


def _cover(paths: Iterable[str]) -> None:
    for path in paths:
        if os.path.isdir(NEW + path):
            kernel.mount("tmpfs", NEW + path, "tmpfs", options="size=4k,mode=755")


def _replace(files: Mapping[str, bytes]) -> None:
    """Each is written into the present root, which is not visible later, and mounted over the one that is shown."""
    for number, (path, content) in enumerate(sorted(files.items())):
        if os.path.isfile(NEW + path):
            made = f"/{len(content)}-{number}"
            with open(made, "xb") as file:
                file.write(content)
            kernel.mount(made, NEW + path, flags=kernel.BIND)


def _write_etc(user: int) -> None:
    os.makedirs(f"{NEW}/etc", exist_ok=True)
    for name, text in WRITTEN.items():
        with open(f"{NEW}/etc/{name}", "w") as file:
            file.write(text.format(user=user))


def _make_places() -> None:
    for folder in ("/proc", "/tmp", "/dev/shm"):
        os.makedirs(NEW + folder)
    for device in DEVICES:
        open(f"{NEW}/dev/{device}", "x").close()
    for name, target in LINKS.items():
        os.symlink(target, f"{NEW}/dev/{name}")
