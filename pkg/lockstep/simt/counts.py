"""What the machine counted, for each line of the kernel's source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from lockstep.simt.errors import KernelError
from lockstep.simt.masks import LANES


@dataclass(slots=True)
class LineCounts:
    """One line of the source. All numbers are summed over the warps of the launch.

    An *instruction* is an operation as the source writes it (an arithmetic operation, a comparison, a load, a store, a
    call, a turn of a loop) that a warp issues once, for however many of its lanes are active. A *request* is a load or
    store of one warp.
    """

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
    atomics: int = 0  # atomic operations of single lanes
    atomic_passes: int = 0  # how many of these have to wait in line, counting the first: lanes at one address

    @property
    def place(self) -> str:
        """ "line 7", "line 3 of half"."""
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
        """The share of the moved bytes that a lane asked for; above 1 where lanes share what was moved."""
        return self.global_bytes / (32 * self.sectors) if self.sectors else 1.0


COUNTED = tuple(field.name for field in fields(LineCounts) if field.name not in ("number", "text", "function"))


def total(lines: Iterable[LineCounts]) -> LineCounts:
    """All lines together, as one without a number."""
    lines = list(lines)
    return LineCounts(0, "total", **{name: sum(getattr(line, name) for line in lines) for name in COUNTED})


HEADS = ("instr", "lanes", "glob.req", "sect/req", "shar.req", "wave/req", "diverge", "barrier", "atomic")


def table(lines: Sequence[LineCounts]) -> str:
    """The source with its counts to the left; empty where there is nothing to count."""
    rows = [HEADS, *(_cells(line) for line in [*lines, total(lines)])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    texts = ["", *(f"{line.number:4d}  {line.text}" for line in lines), "total"]
    padded = ("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"{cells}  {text}".rstrip() for cells, text in zip(padded, texts, strict=True))


def _cells(line: LineCounts) -> tuple[str, ...]:
    told = (
        (line.instructions, f"{line.instructions:,}"),
        (line.instructions, f"{100 * line.lane_efficiency:.0f}%"),
        (line.global_requests, f"{line.global_requests:,}"),
        (line.global_requests, f"{line.sectors_per_request:.3g}"),
        (line.shared_requests, f"{line.shared_requests:,}"),
        (line.shared_requests, f"{line.wavefronts_per_request:.3g}"),
        (line.divergences, f"{line.divergences:,}"),
        (line.barriers, f"{line.barriers:,}"),
        (line.atomics, f"{line.atomics:,}"),
    )
    return tuple(text if there else "" for there, text in told)
