"""A training step of any size, simulated in seconds: its distinct instructions recorded once, and played by all stages.

    simulate_step(GPTSize(96, 12288, 96), Grid(tp=8, pp=8, recompute="full"), chunks=3, micro_batches=64, on="dgx-a100")

    1 record    three ranks without data, the first, a middle and the last stage of a pipeline, carry out one chunk's
                instructions, two or three micro-batches of them (``virtual.tape``). They are alone in their groups
    2 cast      which ranks do the same at the same time: those of a tensor group, and of a data group, as long as no
                rank and no link is different, and each sits in its node as the others do
    3 play      each player plays its stage's instructions on the network of the cluster (``virtual.players``)

The step begins when every rank has built its model. Its time, its memory and its messages are those of
``training_step``, executed in full by every rank: the tests compare each event.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lockstep.comm.operation import Operation
from lockstep.events import Trace
from lockstep.hybrid.grid import AXES, GROUPS, GPTSize, Grid, check, layers_of_chunks
from lockstep.hybrid.instructions import labelled, program, role
from lockstep.hybrid.worker import GridWorker
from lockstep.machines import Cluster
from lockstep.pipeline.instructions import place
from lockstep.pipeline.schedules import stream
from lockstep.virtual.players import Cast, Played, Step, play
from lockstep.virtual.tape import Bytes, Segment, recorded
from lockstep.worlds import Result, run, the_cluster

if TYPE_CHECKING:
    from lockstep.show.timeline import Timeline

BUILD = "build"
COUNTED_AS = {"edp": "dp", "embedding": "pp"}  # groups whose waits count as another axis's
ENDLESS = 10**18  # bytes of a device while recording: what does not fit is told with the result
HOST_TIMEOUT = 600.0  # seconds of host time for the recording

Segments = Mapping[Hashable, Segment]


@dataclass(frozen=True, repr=False)
class SimulatedStep(Result):
    """The result of a simulated step. The trace has the players' events only; memory is that of every rank.

    stands_for: by rank, the player that did the same in its place.
    parts: where the time of an average rank went, in seconds: "compute"; "tp", "cp", "ep" and "dp", waiting for
        communication on these axes ("dp" has the sums of the experts' gradients, too); "pp", waiting while a message of
        the pipeline, or the sum of a tied embedding, was on its way; "bubble", waiting for other stages and for the
        end. They add up to ``time``.
    flops: of all ranks together."""

    stands_for: Sequence[int] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    flops: int = 0

    def show(self) -> Timeline:
        """The timeline of the players: a lane for each, in their order. Where all ranks of a stage are alike, lane s is
        stage s."""
        memory = [self.memory[player] for player in sorted(set(self.stands_for))]
        return Result.show(replace(self, trace=self.of_players(), memory=memory))

    def of_players(self) -> Trace:
        """The trace with players only, numbered from 0."""
        number = {player: n for n, player in enumerate(sorted(set(self.stands_for)))}
        events = [
            e._replace(
                rank=number[e.rank],
                peer=None if e.peer is None else number.get(e.peer),
                group=tuple(number[r] for r in e.group if r in number),
            )
            for e in self.trace
        ]
        return replace(self.trace, events=tuple(events), ranks=len(number), unequal=())


def simulate_step(
    model: GPTSize, grid: Grid, chunks: int = 1, micro_batches: int = 1, on: str | Cluster = "dgx-a100",
    schedule: str = "interleaved",
) -> SimulatedStep:  # fmt: skip
    """Simulate one training step of ``model`` on ``grid.ranks`` ranks of the cluster ``on``.

    chunks: parts of the model on each stage, a plan's vp. micro_batches: those of each pipeline, so that the batch is
    micro_batches · grid.micro_batch · grid.dp sequences. schedule: one of ``pipeline.schedules.NAMES`` that updates
    after a flush; "interleaved" with one chunk is 1F1B.

    A stage that needs more memory than its device has is told in ``warnings``. Raises UsageError where the model cannot
    be divided so, and for clusters whose ranks share cores."""
    check(model, grid, chunks, micro_batches, schedule)
    cluster = the_cluster(on)
    segments = record(model, grid, chunks, micro_batches, cluster, schedule)
    layers = layers_of_chunks(model, grid, grid.pp * chunks)
    played = play(segments, cast(segments, grid, layers, micro_batches, cluster, schedule), cluster)
    return told(played, grid, cluster)


# ---- 1


def record(
    model: GPTSize, grid: Grid, chunks: int, micro_batches: int, cluster: Cluster, schedule: str = "interleaved"
) -> Segments:
    """The segments of all instructions of this step. They depend on the number of layers in a chunk, on the sizes of
    the groups and on the device, not on pp or on the network."""
    stages = min(3, grid.pp * chunks)
    few = min(micro_batches, 3 if grid.overlap else 2)
    alike = replace(cluster, unequal=(), jitter=None, device=replace(cluster.device, memory=ENDLESS))
    found = dict[Hashable, Segment]()
    for each in sorted({*layers_of_chunks(model, grid, grid.pp * chunks)}):
        part, even = replace(model, layers=stages * each), replace(grid, layout=())
        recorded_ = run(
            record_stage, part, even, stages, few, schedule, ranks=stages, on=alike, fake=True, timeout=HOST_TIMEOUT
        )
        found |= {key: segment for of_stage in recorded_.values for key, segment in of_stage.items()}
    return found


def record_stage(model: GPTSize, grid: Grid, stages: int, micro_batches: int, schedule: str) -> Segments:
    """On a rank: the segments of its stage."""
    with recorded() as tape:
        stage = tape.rank
        sizes = {axis: len(grid.group(axis, 0)) for axis in GROUPS} | {"pp": stages}
        seats = dict.fromkeys(GROUPS, 0) | {"pp": stage, "embedding": min(stage, sizes["embedding"] - 1)}
        groups = {axis: tape.group(axis, seats[axis], sizes[axis]) for axis in GROUPS}
        made: list[GridWorker] = []
        layers = layers_of_chunks(model, grid, stages)
        built = BUILD, role(stage, stages), layers[stage]
        tape.record(built, lambda: made.append(GridWorker(model, grid, 1, groups)))
        worker = made[0]
        acts = worker.prepare(stream(schedule, stage, stages, micro_batches), micro_batches)
        for act, step in zip(acts, labelled(acts, stage, stages, 1, grid.overlap, layers), strict=True):
            tape.record(step.key, lambda act=act: worker.act(act))  # type: ignore[misc]
        return tape.segments()


# ---- 2


def cast(
    segments: Segments, grid: Grid, layers: Sequence[int], micro_batches: int, cluster: Cluster,
    schedule: str = "interleaved",
) -> Cast:  # fmt: skip
    """``layers``: of each chunk, in the model's order."""
    chunks = len(layers) // grid.pp

    def instructions(stage: int) -> list[Step]:
        acts = program(stream(schedule, stage, grid.pp, micro_batches, chunks), chunks)
        return labelled(acts, stage, grid.pp, chunks, grid.overlap, layers)

    def held(rank: int) -> Bytes:
        stage = grid.seat(rank)[2]
        places = [place(c, stage, grid.pp) for c in range(chunks)]
        first, *others = (segments[BUILD, role(at, grid.pp * chunks), layers[at]].held.change for at in places)
        return sum(others, first)

    return Cast(
        stands_for(grid, cluster), lambda rank: instructions(grid.seat(rank)[2]), lambda r, axis: grid.group(axis, r),
        held,
    )  # fmt: skip


def stands_for(grid: Grid, cluster: Cluster) -> list[int]:
    """By rank, the lowest that does the same at the same time. Two tensor seats (or replicas) are alike if exchanging
    them changes nothing: all their ranks are equal, or different in the same way, and have their groups on as many
    nodes in the same way. Where a replica is different and shares its sequence with others, all replicas play for
    themselves."""
    differences = cluster.differences(grid.ranks)
    at_links = {r for u in differences for r in u.ranks if len(u.ranks) == 2}
    alone = set(range(grid.ranks)) if cluster.jitter else at_links
    own = {r: tuple((u.what, u.value) for u in differences if u.ranks == (r,)) for u in differences for r in u.ranks}
    of_tensor, of_replica = defaultdict[int, list[Hashable]](list), defaultdict[int, list[Hashable]](list)
    for rank in range(grid.ranks):
        tensor, replica, _ = grid.seat(rank)
        sits = rank if rank in alone else (own.get(rank, ()), surroundings(grid, cluster, rank))
        of_tensor[tensor].append(sits)
        of_replica[replica].append(sits)
    tensors, replicas = first_alike(of_tensor), first_alike(of_replica)
    if grid.cp > 1 and len(set(replicas.values())) > 1:
        replicas = {replica: replica for replica in replicas}
    if grid.ep > 1 and (len(set(replicas.values())) > 1 or len(set(tensors.values())) > 1):
        return list(range(grid.ranks))  # the groups of experts cross both
    seats = (grid.seat(rank) for rank in range(grid.ranks))
    return [grid.rank(tensors[tensor], replicas[replica], stage) for tensor, replica, stage in seats]


def first_alike(by_seat: Mapping[int, Sequence[Hashable]]) -> dict[int, int]:
    """By seat, the first with an equal entry."""
    first: dict[Hashable, int] = {}
    return {seat: first.setdefault(tuple(entry), seat) for seat, entry in sorted(by_seat.items())}


def surroundings(grid: Grid, cluster: Cluster, rank: int) -> Hashable:
    """How a rank's groups lie on the nodes, and whether its pipeline neighbours are inside."""
    shapes = []
    for axis in ("tp", "cp", "dp", "ep", "edp", "embedding"):
        nodes = Counter(cluster.node(r) for r in grid.group(axis, rank))
        shapes.append((nodes[cluster.node(rank)], tuple(sorted(nodes.values()))))
    stages = grid.group("pp", rank)
    at = stages.index(rank)
    near = tuple(cluster.is_inside(rank, stages[(at + way) % len(stages)]) for way in (-1, 1))
    return *shapes, near


# ---- what is told of it


def told(played: Played, grid: Grid, cluster: Cluster) -> SimulatedStep:
    players = stands_for(grid, cluster)
    times = Counter(players)  # how many ranks a player stands for
    memory = [played.memory[player] for player in players]
    flops = sum(e.flops * times[e.rank] for e in played.trace.of_kind("compute"))
    return SimulatedStep(
        values=[None] * grid.ranks, trace=played.trace, time=played.time, peak_memory=[m.peak for m in memory],
        warnings=too_much(played, grid, cluster), memory=memory, stands_for=players,
        parts=parts_of(played, times, grid.ranks), flops=flops,
    )  # fmt: skip


def too_much(played: Played, grid: Grid, cluster: Cluster) -> tuple[str, ...]:
    """A sentence for the fullest player, if that does not fit."""
    rank, memory = max(played.memory.items(), key=lambda of: of[1].peak)
    has = cluster.memory_among(grid.ranks, rank)
    if memory.peak <= has:
        return ()
    stage = grid.seat(rank)[2]
    return (f"Stage {stage} needs {memory.peak / 1e9:.1f} GB on each rank, and a device has {has / 1e9:.1f} GB.",)


def parts_of(played: Played, times: Mapping[int, int], ranks: int) -> dict[str, float]:
    """``SimulatedStep.parts``."""
    spent = dict.fromkeys(("compute", *AXES, "ep"), 0.0)
    for event in played.trace.of_kind("compute"):
        spent["compute"] += event.duration * times[event.rank] / ranks
    for operation in played.operations:
        axis = COUNTED_AS.get(operation.group_name, operation.group_name)
        spent[axis] += under_way(operation) * times[operation.rank] / ranks
    return {**spent, "bubble": played.time - sum(spent.values())}


def under_way(operation: Operation) -> float:
    """Seconds of a wait in which the operation was going on; before, it waited for others."""
    started, ended = operation.start, operation.end
    return 0.0 if started is None or ended is None else min(operation.wait, ended - started)
