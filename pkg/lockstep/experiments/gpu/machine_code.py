"""The machine code of a kernel: PTX, NVIDIA's portable assembly, and SASS, the code that one GPU generation executes.

No GPU is needed: numba-cuda, cuda.core and nvdisasm come with the extra ``gpu`` (`pip install 'lockstep-lab[gpu]'`)::

    Python source --numba, NVVM--> PTX --cuda.core's linker--> cubin --nvdisasm--> SASS with line numbers
"""

from __future__ import annotations

import importlib
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.distribution import install
from lockstep.errors import WorldUnavailable
from lockstep.simt.errors import KernelError
from lockstep.simt.interpreter.kernel_source import plain_function

EXTRA = f"Install the extra: {install('gpu')}. It needs no GPU."
LINE = re.compile(r'//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?P<text>[^;]*?)\s*;")
REGISTERS = re.compile(r"EIATTR_REGCOUNT.*?index@\(.*?\.word\s+(?P<count>0x[0-9a-f]+)", re.DOTALL)


@dataclass(frozen=True)
class MachineCode:
    """The compiled code of a kernel. ``sass``: the instructions in order; ``lines``: those of each source line, by its
    number; ``registers``: how many each thread needs."""

    ptx: str
    sass: tuple[str, ...]
    lines: Mapping[int, tuple[str, ...]]
    registers: int


def machine_code(kernel: Any, *args: Any, capability: tuple[int, int] = (9, 0)) -> MachineCode:
    """Compile ``kernel`` for arguments of these types. ``capability``: (8, 0) is an A100, (9, 0) an H100.

    Raises WorldUnavailable without the extra, KernelError for what numba cannot compile."""
    _need("numba_cuda", "cuda.core", "cuda.pathfinder")
    function = plain_function(kernel)
    ptx = _ptx(function, args, capability)
    listing = _listing(_cubin(ptx, capability))
    sass, lines = by_lines(listing, function.__code__.co_filename)
    registers = REGISTERS.search(listing)
    return MachineCode(ptx, sass, lines, int(registers["count"], 16) if registers else 0)


def _need(*modules: str) -> None:
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            raise WorldUnavailable(f"PTX and SASS need {module}, which is not installed.", EXTRA) from None


def _ptx(function: Any, args: tuple[Any, ...], capability: tuple[int, int]) -> str:
    from numba import cuda, typeof
    from numba.core.errors import NumbaError

    try:
        types = tuple(typeof(arg) for arg in args)
        text, _ = cuda.compile_ptx(function, types, cc=capability, lineinfo=True)
    except (NumbaError, ValueError) as error:
        told = str(error).strip().splitlines()[0]
        raise KernelError(f"numba cannot compile {function.__name__}: {told}") from None
    return str(text)


def _cubin(ptx: str, capability: tuple[int, int]) -> bytes:
    from cuda.core import Program, ProgramOptions  # type: ignore[import-not-found]

    options = ProgramOptions(arch=f"sm_{capability[0]}{capability[1]}", lineinfo=True)
    return bytes(Program(ptx, "ptx", options).compile("cubin").code)


def _listing(cubin: bytes) -> str:
    """The output of nvdisasm: the instructions with their lines, and the tables around them."""
    from cuda import pathfinder  # type: ignore[import-not-found]

    tool = pathfinder.find_nvidia_binary_utility("nvdisasm")
    if tool is None:
        raise WorldUnavailable("SASS needs nvdisasm, which is not installed.", EXTRA)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([tool, "--print-line-info", str(path)], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise WorldUnavailable(f"nvdisasm failed: {done.stderr.strip()}", EXTRA)
    return done.stdout


def by_lines(listing: str, file: str) -> tuple[tuple[str, ...], dict[int, tuple[str, ...]]]:
    """All instructions of a listing, and those that come from ``file``, by line. The idle loop at the end is left
    out."""
    sass: list[str] = []
    lines: dict[int, list[str]] = {}
    number = 0
    for text in listing.splitlines():
        place, instruction = LINE.search(text), INSTRUCTION.search(text)
        if place:
            number = int(place["line"]) if Path(place["file"]).name == Path(file).name else 0
        elif instruction and instruction["text"] != "NOP":
            sass.append(instruction["text"])
            if number:
                lines.setdefault(number, []).append(instruction["text"])
    return tuple(sass), {line: tuple(found) for line, found in sorted(lines.items())}
