"""Files as nobody meant them: a text, a notebook or any bytes, changed by chance that a seed decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

TOKENS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\x1b[2J", b"\xed\xa0\x80", b"\xe2\x80\xae", b"'''", b'"',
    b"\\", b"{", b"}",
    b"[" * 2000, b"(" * 300, b"-1", b"1e999", b"9" * 5000, b"NaN", b"null", b"\\ud800", b"\t", b" " * 70, b"\n" * 50,
    b"%d",
)  # fmt: skip
STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "", "x" * 5000, "\x00", "\ud800", "\u202e",
    "../../etc",
    "answer-amdahl", "tests-amdahl", [], {}, [[]], {"": None}, [None] * 50, {"cells": []}, ["a", 1, None],
    "<script>alert(1)",
)  # fmt: skip
LINES = (
    "return", "return None", "return float('nan')", "return 10 ** 400", "return lambda: 0", "return [[]] * 3",
    "yield 1",
    "raise SystemExit(7)", "raise KeyboardInterrupt", "raise Exception('\\ud800' * 9)", "raise BaseException",
    "pass", "...",
    "assert False", "global x, y", "import os; os._exit(3)", "import sys; sys.exit(0)", "print('\\x1b[2J' * 1000)",
    "1 / 0",
    "from __future__ import braces", "import no_such_module", "del tensor", "x = x", "await x", "while True: pass",
    "break",
    "def f(): f()\n    f()", "return self", "return (yield)", "async def g(): pass", "class A: pass", "nonlocal z",
    "%matplotlib",
    "!ls", "input()", "exec('x = (' )", "return __import__('sys')", "return b'\\xff'", "return type('T', (), {})()",
    "return {1: {}}",
)  # fmt: skip


def of_bytes(data: bytes, draw: Random) -> bytes:
    """Some bytes turned, taken out, doubled, or put in."""
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, length = draw.randrange(len(data) + 1), draw.choice((1, 4, 60, 2000))
        match draw.randrange(6):
            case 0:
                data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at]
            case 2:
                data = data[:at] + data[at + length :]
            case 3:
                data = data[: at + length] + data[at:]
            case 4:
                data = data[:at] + draw.choice(TOKENS) + data[at:]
            case 5:
                data = data[:at] + draw.randbytes(length) + data[at:]
    return data


def of_python(text: str, draw: Random) -> bytes:
    """Lines of a function taken out, moved, replaced, put in; or any bytes of it changed."""
    lines = text.splitlines()
    for _ in range(draw.choice((1, 1, 2, 3))):
        at = draw.randrange(1, len(lines)) if len(lines) > 1 else 0
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())] if lines else ""
        match draw.randrange(6):
            case 0:
                del lines[at : at + draw.choice((1, 3))]
            case 1:
                lines.insert(at, indent + draw.choice(LINES))
            case 2:
                lines[at : at + 1] = [indent + draw.choice(LINES)]
            case 3:
                lines[at : at + 1] = [draw.choice(("    ", "\t", "")) + lines[at] if lines else ""]
            case 4:
                lines = _swapped("\n".join(lines), draw).splitlines()
            case 5:
                return of_bytes("\n".join(lines).encode(), draw)
        lines = lines or [""]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _swapped(text: str, draw: Random) -> str:
    """Two words of it change places."""
    words = text.split(" ")
    one, other = draw.randrange(len(words)), draw.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def of_json(data: Any, draw: Random) -> bytes:
    """A value replaced, taken out, doubled or renamed, somewhere in it; or any bytes of its text changed."""
    if draw.random() < 0.3:
        return of_bytes(json.dumps(data).encode(), draw)
    for _ in range(draw.choice((1, 1, 2, 6))):
        places = list(_places(data))
        if not places:
            break
        holder, key = draw.choice(places)
        match draw.randrange(5):
            case 0:
                holder[key] = deepcopy(draw.choice(STRANGE))
            case 1:
                del holder[key]
            case 2:
                other_holder, other = draw.choice(places)
                holder[key] = json.loads(json.dumps(other_holder[other])) if _has(other_holder, other) else None
            case 3 if isinstance(holder, dict):
                holder[draw.choice((f"{key}x", "", "metadata", "nbgrader", "source"))] = holder.pop(key)
            case 3:
                holder.insert(key, holder[key])
            case 4:
                holder[key] = draw.choice((list, str, lambda value: {"value": value}))([holder[key]])
    return json.dumps(data).encode("utf-8", "surrogatepass")


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """All that a list or a dict in it holds, by which it is reached."""
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield data, key
        yield from _places(data[key])


Mutator = Callable[[Any, Random], bytes]
