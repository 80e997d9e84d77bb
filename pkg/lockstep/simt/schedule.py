"""The order in which warps and blocks run: one after another, each to its next barrier or to its end.

A GPU guarantees no order, and a kernel that needs one has a race, which is found. A warp that can only wait for another
thread (``spinning``) yields to the other warps of its block, then to the next blocks, and is resumed later. If no other
warp can make progress, it waits for ever, and that is reported.

A GPU runs as many blocks at the same time as fit; the others begin when these have ended. The machine lets RESIDENT
blocks wait, as many as fit on an H100 however large they are: one on each of its multiprocessors.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

from lockstep.simt.errors import KernelError
from lockstep.simt.interpreter.program import Program
from lockstep.simt.lane_values import Value
from lockstep.simt.masks import LANES
from lockstep.simt.profile import Recorder
from lockstep.simt.race_detection.findings import Findings
from lockstep.simt.warp import Arrival, Block, Course, Spin, Warp, arrival_values

RESIDENT = 132


class Waiting(NamedTuple):
    """A block yields: some warps ``spin``, the others wait at a barrier. ``anew``: it has made progress before."""

    spins: Mapping[Warp, Spin]
    arrivals: Mapping[Warp, Arrival]
    anew: bool


BlockCourse = Generator[Waiting, None, None]


def run_grid(courses: Iterator[BlockCourse]) -> None:
    """Run all blocks. Raises KernelError if a loop waits for ever."""
    waiting: list[tuple[BlockCourse, Waiting]] = []
    for course in courses:
        waiting += _asked([course])
        if len(waiting) == RESIDENT:
            waiting = _settled(waiting)
            if len(waiting) == RESIDENT:
                others = f" Further blocks begin when one of these {RESIDENT} has ended."
                raise _endless([at for _, at in waiting], others)
    waiting = _settled(waiting)
    if waiting:
        raise _endless([at for _, at in waiting], "")


def _asked(courses: Sequence[BlockCourse]) -> list[tuple[BlockCourse, Waiting]]:
    """Resume each; returns those that still wait."""
    asked = [(course, next(course, None)) for course in courses]
    return [(course, at) for course, at in asked if at is not None]


def _settled(waiting: list[tuple[BlockCourse, Waiting]]) -> list[tuple[BlockCourse, Waiting]]:
    """Resume all again, until none makes progress."""
    while waiting:
        before = len(waiting)
        waiting = _asked([course for course, _ in waiting])
        if len(waiting) == before and not any(at.anew for _, at in waiting):
            break
    return waiting


def run_block(
    program: Program,
    block: Block,
    values: dict[str, Value],
    findings: Findings,
    recorders: dict[tuple[int, int], Recorder],
) -> BlockCourse:
    """Run all warps of a block to the next barrier, one after another; then all go on."""
    running: dict[Warp, Course] = {}
    for number in block.warps:
        warp = Warp(number, block, findings, recorders.get((block.number, number)))
        warp.frame.values.update(values)
        running[warp] = program.body(warp, warp.started)
    answer: Value = None
    while running:
        arrivals = yield from _to_barrier(running, answer)
        block.hazards.barrier(list(arrivals))
        if arrivals:
            _meet(block, arrivals, findings)
            answer = arrival_values(list(arrivals.values()))


def _to_barrier(running: dict[Warp, Course], answer: Value) -> Generator[Waiting, None, dict[Warp, Arrival]]:
    """Run until all warps have come to a barrier or ended. ``running`` loses those that end."""
    arrivals: dict[Warp, Arrival] = {}
    turning, anew = list(running), True
    while turning:
        spins: dict[Warp, Spin] = {}
        before = len(turning)
        for warp in turning:
            try:
                came = running[warp].send(answer)
            except StopIteration:
                del running[warp]
                continue
            if isinstance(came, Spin):
                spins[warp] = came
            else:
                arrivals[warp] = came
        turning, answer = list(spins), None
        moved = len(turning) < before or any(spin.anew for spin in spins.values())
        anew = anew or moved
        if turning and not moved:
            yield Waiting(spins, arrivals, anew)
            anew = False
    return arrivals


def _meet(block: Block, arrivals: dict[Warp, Arrival], findings: Findings) -> None:
    """Report warps that wait at different barriers, or for warps that have ended."""
    places = {arrival.line.place: arrival.line for arrival in arrivals.values()}
    here, *elsewhere = sorted(places.values(), key=lambda line: line.number)
    first = next(iter(arrivals))
    if elsewhere:
        told = f"warps of {block} wait here, and others wait at the barrier in {elsewhere[0].place}."
        findings.add("divergent_barrier", here, told, first.threads(first.started.lanes), other=elsewhere[0])
    elif len(arrivals) < len(block.warps):
        absent = next(number for number in block.warps if number not in {warp.number for warp in arrivals})
        told = f"warp {first.number} of {block} waits here, and warp {absent} has ended without coming to this barrier."
        findings.add("divergent_barrier", here, told, [block.thread(LANES * absent)])


def _endless(waiting: Sequence[Waiting], others: str) -> KernelError:
    """The error for a loop that waits for ever: preferably of a warp whose own lanes wait for each other, since no
    other thread can help it."""
    spins = [(warp, spin, at) for at in waiting for warp, spin in at.spins.items()]
    warp, spin, at = next((found for found in spins if found[1].left.count), spins[0])
    told = f"{warp.threads(spin.mask.lanes)[0]} turns in this loop for ever: nothing on which its end depends changes"
    if spin.left.count:
        told += (
            f", and {warp.threads(spin.left.lanes)[0]}, which has left it, waits behind it for the rest of its warp."
        )
        remedy = (
            "If that thread holds a lock, the others never get it. Put the work and the release inside of the loop, "
            "or let one thread of a warp take the lock."
        )
        return spin.line.refuse(told, remedy)
    told += "."
    if at.arrivals:
        told += f" Other warps of {warp.block} wait at the barrier in {next(iter(at.arrivals.values())).line.place}."
    told += others or " All other threads have ended, or wait, too."
    remedy = "Which thread writes what the loop waits for? Is a lock released on every way? Can its own body end it?"
    return spin.line.refuse(told, remedy)
