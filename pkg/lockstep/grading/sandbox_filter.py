"""System calls that a learner's program never needs, refused by the kernel: seccomp, without libseccomp.

The list is of what is dangerous, not of what is allowed: torch and Python call too much for that. It is the third line
of defence, after the namespaces and the missing capabilities: it closes the way to bugs of the kernel (bpf, io_uring,
userfaultfd, new user namespaces), to other processes' memory (ptrace) and to what no namespace covers (vsock).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator

from lockstep.grading.syscalls import NAMESPACES, SECCOMP, prctl

# name: numbers on x86_64 and on aarch64; None where it does not exist
_REFUSED: dict[str, tuple[int | None, int]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268), "pidfd_getfd": (438, 438),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
}  # fmt: skip
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: all of them see this network namespace alone

_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000  # another set of numbers for the same calls


def install() -> bool:
    """Whether there is a filter for this architecture; if so, it holds from now on, for all that is started."""
    found = _ARCHITECTURES.get(os.uname().machine)
    if found is None:
        return False
    program = list(_program(*found))
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    lines = ctypes.create_string_buffer(code, len(code))
    told = struct.pack("HxxxxxxP", len(program), ctypes.addressof(lines))
    held = ctypes.create_string_buffer(told, len(told))
    prctl(SECCOMP, 2, ctypes.addressof(held))
    return True


def _program(column: int, arch: int) -> Iterator[tuple[int, int, int, int]]:
    """(code, lines to skip if true, if false, operand), as in <linux/filter.h>."""
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    yield _LOAD, 0, 0, _ARCH
    yield _JUMP_EQUAL, 1, 0, arch
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if column == 0:
        yield _JUMP_AT_LEAST, 0, 1, _X32
        yield refuse
    for numbers in _REFUSED.values():
        if numbers[column] is not None:
            yield _JUMP_EQUAL, 0, 1, numbers[column] or 0
            yield refuse
    yield _JUMP_EQUAL, 0, 1, _CLONE3[column]
    yield (
        _RETURN,
        0,
        0,
        _ERRNO | errno.ENOSYS,
    )  # its flags are in memory, which a filter cannot read: libc then tries clone
    yield _JUMP_EQUAL, 0, 3, _CLONE[column]
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _JUMP_SET, 0, 1, NAMESPACES
    yield refuse
    yield _LOAD, 0, 0, _NUMBER
    yield _JUMP_EQUAL, 0, len(_FAMILIES) + 2, _SOCKET[column]
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    for left, family in zip(range(len(_FAMILIES), 0, -1), _FAMILIES, strict=True):
        yield _JUMP_EQUAL, left, 0, family
    yield _RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT
    yield _RETURN, 0, 0, _ALLOW
