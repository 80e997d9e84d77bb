"""The profile of a launch: counters for each line of the kernel's source, and the steps of one warp.

The counters are those of a profiler such as Nsight Compute, per source line; the steps are for the viewer of a warp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.errors import KernelError
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.memory import Memory

WIDE = 88  # characters that JupyterLab has room for at 1,280 pixels
MOST = 20_000  # recorded steps; a viewer has no use for more


@dataclass(slots=True)
class LineCounts:
    """The counters of one line of the source, summed over the warps of the launch.

    An *instruction* is an operation as the source writes it (an arithmetic operation, a comparison, a load, a store, a
    call, a loop iteration) that a warp issues once, for however many of its lanes are active. A *request* is a load or
    store of one warp."""

    number: int  # as in the file or the cell
    text: str
    function: str = ""  # the device function that it belongs to; "" for the kernel's own lines
    instructions: int = 0
    lanes: int = 0  # active lanes, summed over the instructions
    double_precision: int = 0  # instructions whose result is float64: slow on most GPUs
    divergences: int = 0  # how often the lanes of a warp parted here
    global_requests: int = 0
    global_bytes: int = 0  # that lanes asked for
    sectors: int = 0  # of 32 bytes, that were moved for them
    cache_lines: int = 0  # of 128 bytes, that these sectors are in
    shared_requests: int = 0
    wavefronts: int = 0  # one a request, and one more for each conflict of banks
    barriers: int = 0  # warps that came to a syncthreads
    shuffles: int = 0  # exchanges of the lanes of a warp
    atomics: int = 0  # atomic operations of single lanes
    atomic_passes: int = 0  # how many of these have to wait in line, counting the first: lanes at one address

    @property
    def place(self) -> str:
        """The line in words: "line 7", "line 3 of half"."""
        return f"line {self.number} of {self.function}" if self.function else f"line {self.number}"

    def refuse(self, message: str, remedy: str = "") -> KernelError:
        return KernelError(message, remedy, self.number, self.function)

    @property
    def lane_efficiency(self) -> float:
        """The share of lanes that were active, 0 to 1; 1.0 for a line that issued nothing."""
        return self.lanes / (LANES * self.instructions) if self.instructions else 1.0

    @property
    def sectors_per_request(self) -> float:
        return self.sectors / self.global_requests if self.global_requests else 0.0

    @property
    def wavefronts_per_request(self) -> float:
        return self.wavefronts / self.shared_requests if self.shared_requests else 0.0

    @property
    def bus_efficiency(self) -> float:
        """The share of the moved bytes that lanes requested; above 1 where lanes share what was moved."""
        return self.global_bytes / (32 * self.sectors) if self.sectors else 1.0


COUNTED = tuple(f.name for f in fields(LineCounts) if f.name not in ("number", "text", "function"))


def total(lines: Iterable[LineCounts]) -> LineCounts:
    """The sum of all lines, as one without a number."""
    lines = list(lines)
    return LineCounts(0, "total", **{name: sum(getattr(line, name) for line in lines) for name in COUNTED})


class Listing(str):
    """The source with its counts, as text; in a notebook that displays it, the columns of a page's table."""

    page: str

    def __new__(cls, told: str, page: str = "") -> Listing:
        listing = super().__new__(cls, told)
        listing.page = page
        return listing

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.page


def page(lines: Sequence[LineCounts], findings: Iterable[str] = ()) -> str:
    """The table as HTML: where a window is narrow, a line of the source goes on in its own column."""
    rows, used = _rows(lines)
    style = "vertical-align:top;padding:0 .3em;font:12px/1.4 var(--jp-code-font-family,monospace)"
    broken = {head: re.sub(r"([./])", r"\1<wbr>", head) for head in used}
    head = "".join(
        f'<th scope="col" style="{style};white-space:normal;text-align:right">{broken[h]}</th>' for h in used
    )
    texts = [*((str(line.number), line.text) for line in lines), ("", "total")]
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{style};text-align:right">{row[h]}</td>' for h in used)
        + f'<td style="{style};text-align:right">{number}</td>'
        + f'<td style="{style};text-align:left;white-space:pre-wrap;overflow-wrap:normal">{escape(text)}</td></tr>'
        for row, (number, text) in zip(rows, texts, strict=True)
    )
    told = "".join(f'<pre style="white-space:pre-wrap">{escape(finding)}</pre>' for finding in findings)
    ends = f'<th style="{style}"></th><th scope="col" style="{style};text-align:left">source</th>'
    rows_below = f"<thead><tr>{head}{ends}</tr></thead><tbody>{body}</tbody>"
    return f'<div style="overflow-x:auto"><table>{rows_below}</table></div>{told}'


def _rows(lines: Sequence[LineCounts]) -> tuple[list[dict[str, str]], list[str]]:
    """A row for each line and for all together, and the columns with any count."""
    rows = [_cells(line) for line in [*lines, total(lines)]]
    return rows, [head for head in rows[0] if head == "instr" or any(row[head] for row in rows)]


def table(lines: Sequence[LineCounts]) -> str:
    """The source with its counts to the left, at most WIDE characters in all: a longer line goes on below itself.
    Columns without any count are left out."""
    rows, used = _rows(lines)
    columns = [[head, *(row[head] for row in rows)] for head in used]
    padded = zip(*([cell.rjust(max(map(len, column))) for cell in column] for column in columns), strict=True)
    beside = [" ".join(cells) for cells in padded]
    room = WIDE - len(beside[0]) - 2
    texts = [[""], *(_numbered(line, room) for line in lines), ["total"]]
    told = [
        f"{cells if not n else '':{len(cells)}}  {part}".rstrip()
        for cells, parts in zip(beside, texts, strict=True)
        for n, part in enumerate(parts)
    ]
    return "\n".join(told)


def _numbered(line: LineCounts, room: int) -> list[str]:
    """A line of the source behind its number, and what has no room, below it."""
    indent = " " * (6 + len(line.text) - len(line.text.lstrip()) + 4)
    whole = f"{line.number:4d}  {line.text}"
    return wrap(whole, max(room, 40), subsequent_indent=indent, break_long_words=False) or [whole]


def _cells(line: LineCounts) -> dict[str, str]:
    """A row of the table, by column heading; empty where there is nothing to count."""
    return {
        "instr": _shown(line.instructions),
        "lanes": f"{100 * line.lane_efficiency:.0f}%" if line.instructions else "",
        "float64": _shown(line.double_precision),
        "glob.req": _shown(line.global_requests),
        "sect/req": f"{line.sectors_per_request:.3g}" if line.global_requests else "",
        "shar.req": _shown(line.shared_requests),
        "wave/req": f"{line.wavefronts_per_request:.3g}" if line.shared_requests else "",
        "diverge": _shown(line.divergences),
        "barrier": _shown(line.barriers),
        "atomic": _shown(line.atomics),
    }


def _shown(count: int) -> str:
    return f"{count:,}" if count else ""


# ---- the steps of one warp


@dataclass(frozen=True)
class Step:
    """One instruction of the recorded warp: its line, its active lanes (lane 0 is the lowest bit), and for a load or
    store what it accessed: ``addresses`` in bytes, one for each active lane in order."""

    line: int
    mask: int
    space: str = ""  # "global", "shared", "local"; "" if no memory is touched
    array: str = ""
    addresses: tuple[int, ...] = ()


@dataclass
class Recorder:
    """Records the steps of a warp, MOST at most."""

    steps: list[Step] = field(default_factory=list)

    def step(self, line: LineCounts, mask: Mask) -> None:
        if len(self.steps) < MOST:
            self.steps.append(Step(line.number, mask.bits()))

    def access(self, memory: Memory, items: NDArray[np.int64], mask: Mask) -> None:
        """Complete the last step, which is a load or a store."""
        if len(self.steps) < MOST:
            last = self.steps.pop()
            addresses = tuple((memory.base + items * memory.itemsize).tolist())
            self.steps.append(Step(last.line, mask.bits(), memory.space, memory.name, addresses))
