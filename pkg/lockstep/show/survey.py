"""survey(): this machine, as surveyed: cores with their SIMD lanes and caches, the memory, bandwidths, GPUs.

What a core has to itself is drawn inside it; what cores share is below them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.figure import Picture
from lockstep.show.quantities import nbytes
from lockstep.this_machine.survey import Survey, full_survey


def survey(machine: Survey | None = None) -> Picture:
    """``machine``, or the one that this runs on, as its survey found it (measured once, about 5 s, then kept)."""
    found = machine if machine is not None else full_survey()
    return Picture(draw(found), words(found))


WIDTH, HEIGHT = svg.WIDTH, 424.0
LEFT, RIGHT, TOP = 14.0, 320.0, 78.0  # the processor's box
SIDE = 334.0  # the column on its right
CORES_DRAWN = 2
LANE, PRIVATE = palette.ROLES["marked"], palette.COLOURS["recv"]
GPU, SHARED, MEMORY = palette.SHADES[:3]


def draw(machine: Survey) -> str:
    """The whole figure."""
    body = [
        svg.text(LEFT, 26, machine.processor or "This machine", 14, font_weight=600),
        *(svg.faint(LEFT, 45 + 17 * i, told) for i, told in enumerate(svg.wrapped(_setting(machine), WIDTH - 28))),
        *_processor(machine), *_memory(machine), *_facts(machine), *_gpus(machine),
    ]  # fmt: skip
    return svg.document(WIDTH, HEIGHT, "This machine, as surveyed", words(machine), body)


def words(machine: Survey) -> str:
    """The figure for those who do not see it."""
    caches = ", ".join(f"{name} {_size(size)}" for name, size in machine.caches.items()) or "caches unknown"
    told = [f"{machine.processor}: {_setting(machine)}", caches, *(f"{a}: {b}" for a, b in facts(machine))]
    return f"{'; '.join(told)}; GPUs: {', '.join(machine.gpus) or 'none'}."


def facts(machine: Survey) -> list[tuple[str, str]]:
    """What was measured, as (what, how much)."""
    device, link, lanes = machine.cluster.device, machine.cluster.inside, machine.hardware.simd_lanes
    rows = [
        ("one core computes", f"{device.peak('float32') / 1e9:,.0f} GFLOP/s in float32"),
        ("one instruction", f"{lanes} float32 at once" if lanes else "SIMD width unknown"),
        ("one core and the memory", f"{nbytes(device.memory_bandwidth)} a second"),
    ]
    if machine.hardware.bandwidth:
        rows.append(("all cores and the memory", f"{nbytes(machine.hardware.bandwidth)} a second"))
    # Not how long a message of no bytes takes: unit 04 asks for it before it is measured.
    rows.append(("long messages to a process", f"{nbytes(link.bandwidth)} a second"))
    return rows


def _setting(machine: Survey) -> str:
    cores = f"{machine.cores} of {machine.host_cores} cores are ours"
    if machine.cores == machine.host_cores:
        cores = "1 core" if machine.cores == 1 else f"{machine.cores} cores"
    layout, numa = machine.hardware, len(machine.hardware.numa)
    threads = f" · {layout.threads_per_core} hardware threads a core" if layout.threads_per_core > 1 else ""
    nodes = f" · {numa} memory regions (NUMA)" if numa > 1 else ""
    return f"{cores} · {nbytes(machine.memory)} of memory{threads}{nodes}"


def _size(size: int) -> str:
    """A cache's size in powers of two, as makers give it."""
    return f"{size / 2**20:.3g} MiB" if size >= 2**20 else f"{size / 2**10:.3g} KiB"


def _box(x: float, y: float, width: float, height: float, fill: str, told: str, size: float = 12) -> str:
    """A coloured block with its name in it."""
    block = svg.element("rect", x=x, y=y, width=width, height=height, rx=3, fill=fill)
    label = svg.text(x + width / 2, y + height / 2 + 4, told, size, fill=palette.text_on(fill), text_anchor="middle")
    return svg.element("g", svg.title(told), block, label)


def _processor(machine: Survey) -> Iterator[str]:
    drawn = min(machine.cores, CORES_DRAWN)
    private = [(k, v) for k, v in machine.caches.items() if k != "L1i" and machine.hardware.shared.get(k, 1) <= 1]
    yield svg.element("rect", x=LEFT, y=TOP, width=RIGHT - LEFT, height=226.0, rx=6, fill="none",
                      stroke=palette.FAINT, stroke_width=1.2)  # fmt: skip
    pitch = (RIGHT - LEFT - 16) / drawn
    for core in range(drawn):
        name = f"core {core}" if core < drawn - 1 or machine.cores <= drawn else f"core {machine.cores - 1}"
        yield from _core(machine, LEFT + 12 + pitch * core, pitch - 8, name, private)
    if machine.cores > drawn:
        told = f"… {machine.cores - drawn} more like these …"
        yield svg.faint(RIGHT - 12, TOP + 164, told, text_anchor="end")
    yield from _shared(machine)


def _core(machine: Survey, x: float, width: float, name: str, private: list[tuple[str, int]]) -> Iterator[str]:
    yield svg.lane(x, TOP + 12, width, 68 + 28 * max(1, min(3, len(private))))
    yield svg.text(x + 8, TOP + 29, name, 12, font_weight=600)
    lanes = machine.hardware.simd_lanes
    pitch = min(12.0, (width - 16) / max(1, lanes))
    for lane in range(lanes):
        yield svg.element("rect", x=x + 8 + pitch * lane, y=TOP + 37.0, width=pitch - 1.5, height=16.0, fill=LANE)
    yield svg.faint(x + 8, TOP + 68, f"{lanes} at once" if lanes else "")
    for row, (cache, size) in enumerate(private[:3]):
        yield _box(x + 8, TOP + 76.0 + 28 * row, width - 16, 24.0, PRIVATE, f"{cache} {_size(size)}")


def _shared(machine: Survey) -> Iterator[str]:
    shared = [(k, v) for k, v in machine.caches.items() if machine.hardware.shared.get(k, 1) > 1 and k != "L1i"]
    if not machine.caches:
        yield svg.faint(LEFT + 14, TOP + 192, "This system does not tell its caches.")
    height = 44.0 / max(1, len(shared))
    for row, (cache, size) in enumerate(shared):
        told = f"{cache} {_size(size)}, one for {machine.hardware.shared[cache]} cores"
        yield _box(LEFT + 12, TOP + 172 + height * row, RIGHT - LEFT - 24, height - 3, SHARED, told)


def _memory(machine: Survey) -> Iterator[str]:
    top, middle = TOP + 226, (LEFT + RIGHT) / 2
    yield svg.arrow(middle - 8, top + 34, middle - 8, top + 2, head=7)
    yield svg.arrow(middle + 8, top + 2, middle + 8, top + 34, head=7)
    rate = machine.hardware.bandwidth or machine.cluster.device.memory_bandwidth
    yield svg.text(middle + 22, top + 22, f"{nbytes(rate)} a second")
    yield _box(LEFT, top + 37, RIGHT - LEFT, 40.0, MEMORY, f"memory {nbytes(machine.memory)}", 12.5)


def _facts(machine: Survey) -> Iterator[str]:
    yield svg.text(SIDE, TOP + 12, "Measured", 12.5, font_weight=600)
    for row, (what, much) in enumerate(facts(machine)):
        yield svg.faint(SIDE, TOP + 36 + 42 * row, what)
        yield svg.text(SIDE, TOP + 53 + 42 * row, much)


def _gpus(machine: Survey) -> Iterator[str]:
    top = TOP + 263
    if not machine.gpus:
        place = {"x": SIDE, "y": top, "width": WIDTH - SIDE - 14, "height": 40.0}
        yield svg.element("rect", **place, rx=3, fill="none", stroke=palette.FAINT, stroke_dasharray="4 4")
        yield svg.faint((SIDE + WIDTH - 14) / 2, top + 24, "no GPU here", text_anchor="middle")
        return
    many = f"{len(machine.gpus)} × " if len(machine.gpus) > 1 else ""
    told = textwrap.shorten(many + machine.gpus[0].partition(",")[0], 24, placeholder="…")
    yield _box(SIDE, top, WIDTH - SIDE - 14, 40.0, GPU, told)
