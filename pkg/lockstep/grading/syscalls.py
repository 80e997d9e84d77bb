"""Linux system calls that Python 3.11 has no functions for; each raises OSError if the kernel refuses it."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

NEW_USER, NEW_MOUNTS, NEW_PIDS, NEW_NET, NEW_IPC, NEW_UTS, NEW_CGROUP = (
    0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000,
)  # fmt: skip
NAMESPACES = NEW_USER | NEW_MOUNTS | NEW_PIDS | NEW_NET | NEW_IPC | NEW_UTS | NEW_CGROUP

READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_SAFE = 1 | 2 | 4  # MOUNT_ATTR_RDONLY, _NOSUID, _NODEV
_AT_FDCWD, _AT_RECURSIVE, _DETACH = -100, 0x8000, 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442  # on all architectures; Linux 5.12

PDEATHSIG, DUMPABLE, NO_NEW_PRIVS, SECCOMP, DROP_FROM_BOUNDING, SECUREBITS, AMBIENT = 1, 4, 38, 22, 24, 28, 47
_AMBIENT_CLEAR, _LOCKED_DOWN = 4, 0xEF  # all securebits but KEEP_CAPS, and their locks
_CAPABILITY_VERSION_3 = 0x20080522
_UP = 1  # IFF_UP

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _checked(result, f"mount of {source} at {target}")


def make_read_only(target: str) -> None:
    """A mount and all below it: read-only, without devices, without programs that run as another user."""
    attributes = struct.pack("QQQQ", _SAFE, 0, 0, 0)
    result = _libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, target.encode(), _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes))
    )
    _checked(result, f"mount_setattr of {target}")


def pivot_root(new: str, old: str) -> None:
    _checked(_libc.syscall(_PIVOT_ROOT[os.uname().machine], new.encode(), old.encode()), "pivot_root")


def detach(target: str) -> None:
    _checked(_libc.umount2(target.encode(), _DETACH), f"umount of {target}")


def prctl(option: int, *arguments: int) -> int:
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *padded), f"prctl {option}")


def forgo_capabilities() -> None:
    """Programs that are started have no capabilities, whoever owns them."""
    prctl(AMBIENT, _AMBIENT_CLEAR)
    prctl(SECUREBITS, _LOCKED_DOWN)
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        prctl(DROP_FROM_BOUNDING, capability)


def drop_capabilities() -> None:
    """Give up this process's capabilities, for good."""
    header, nothing = struct.pack("Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    _checked(_libc.capset(header, nothing), "capset")
    prctl(NO_NEW_PRIVS, 1)


def bring_loopback_up() -> None:
    """gloo talks over it, also between ranks of one machine."""
    request = struct.pack("16sH14x", b"lo", _UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS
