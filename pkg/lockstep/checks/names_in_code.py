"""The names that compiled code uses. ``dis`` finds them too, with all else that it knows of an instruction, and takes
fifty times as long: every rank of a check needs them, for all functions that run together with the learner's."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType

FLAGS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": int(sys.version_info >= (3, 12)), "LOAD_SUPER_ATTR": 2}  # bits below the name's
NAMING = {code: (dis.opname[code], FLAGS.get(dis.opname[code], 0)) for code in dis.hasname}


def used(code: CodeType) -> Iterator[tuple[str, str]]:
    """The operation and the name of each instruction that has one, as in ("LOAD_GLOBAL", "torch"), in their order."""
    begun = 0  # the upper bits of an operand that takes more than a byte
    units = iter(code.co_code)
    for operation, operand in zip(units, units, strict=True):
        operand |= begun
        if operation == dis.EXTENDED_ARG:
            begun = operand << 8
            continue
        begun = 0
        if operation in NAMING:
            name, flags = NAMING[operation]
            yield name, code.co_names[operand >> flags]


def inside(code: CodeType) -> Iterator[CodeType]:
    """The code itself, and that of all functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from inside(constant)
