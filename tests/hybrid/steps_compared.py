"""A simulated step beside the same step in full: every event of every rank, and the memory of every rank."""

from __future__ import annotations

from lockstep import run
from lockstep.hybrid.executed_step import training_step
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import SimulatedStep, simulate_step
from lockstep.machines import Cluster

Case = tuple[GPTSize, Grid, int, int]  # and chunks, micro-batches


def compare(
    model: GPTSize, grid: Grid, chunks: int, micro_batches: int, cluster: Cluster, schedule: str = "interleaved"
) -> SimulatedStep:
    case = model, grid, chunks, micro_batches
    full = run(training_step, *case, schedule, ranks=grid.ranks, on=cluster, fake=True, timeout=600)
    played = simulate_step(*case, on=cluster, schedule=schedule)
    begin = full.values[0].begin
    assert {ran.begin for ran in full.values} == {begin}
    time = max(ran.end for ran in full.values) - begin
    assert abs(played.time - time) < 1e-9 * time
    for rank, player in enumerate(played.stands_for):
        events = [e for e in full.trace.of_rank(rank) if e.posted >= begin and e.kind != "barrier"]
        offset = rank - player
        for a, b in zip(events, played.trace.of_rank(player), strict=True):
            peer = None if b.peer is None else b.peer + offset
            assert (a.kind, a.nbytes, a.peer, a.tag, a.flops) == (b.kind, b.nbytes, peer, b.tag, b.flops)
            assert len(a.group) == len(b.group)
            times = [(a.posted - begin, b.posted), (a.start - begin, b.start), (a.end - begin, b.end), (a.wait, b.wait)]
            assert max(abs(x - y) for x, y in times) < 1e-9 * time
        ran, simulated = full.values[rank].memory, played.memory[rank]
        assert ran.peak == simulated.peak == played.peak_memory[rank]
        assert ran.peaks == simulated.peaks
        assert ran.at_peak == simulated.at_peak
    return played
