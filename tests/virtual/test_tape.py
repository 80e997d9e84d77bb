"""What is recorded once, on a rank alone, and played on a whole cluster, is what the program does there in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import Deadlock, Mismatch, RankRaised, Unmatched, UsageError
from lockstep.events import Event, Trace
from lockstep.machines import Cluster, find
from lockstep.residency import Residency
from lockstep.virtual.players import Cast, Step, play
from lockstep.virtual.tape import nearest, recorded

GPUS = find("dgx-a100")
PAIRS = replace(GPUS, ranks_per_node=2)
MICRO_BATCHES = 3
WIDTH = 256


class Stage:
    """A stage of a pipeline of tensor-parallel pairs, in instructions that cost the same each time. The sum of the
    gradients is posted by one, and waited for by another."""

    def __init__(self, tensor, pipeline) -> None:
        self.tensor, self.pipeline = tensor, pipeline
        self.stage, self.stages = dist.get_rank(pipeline), dist.get_world_size(pipeline)
        self.x, self.under_way = torch.empty(WIDTH, WIDTH), []

    def receive(self) -> None:
        dist.recv(self.x, group=self.pipeline, group_src=self.stage - 1)

    def compute(self) -> None:
        self.y = self.x @ torch.zeros(WIDTH, WIDTH // 2) @ torch.zeros(WIDTH // 2, WIDTH)
        dist.all_reduce(self.y, group=self.tensor)

    def send(self) -> None:
        dist.send(self.y, group=self.pipeline, group_dst=self.stage + 1)

    def post_sum(self) -> None:
        self.under_way.append(dist.all_reduce(self.x, group=self.tensor, async_op=True))
        self.x = self.x @ self.x

    def wait_for_sum(self) -> None:
        self.under_way.pop(0).wait()
        self.x = torch.relu(self.x)


def program(stage: int, stages: int) -> list[str]:
    once = ["receive"] * (stage > 0) + ["compute"] + ["send"] * (stage < stages - 1)
    return once * MICRO_BATCHES + ["post_sum", "compute", "wait_for_sum"]


def in_full() -> float:
    groups = [dist.new_group(ranks) for ranks in ([0, 1], [2, 3], [0, 2], [1, 3])]
    me = dist.get_rank()
    stage = Stage(groups[me // 2], groups[2 + me % 2])
    for name in program(stage.stage, 2):
        getattr(stage, name)()
    return 0.0


def record() -> dict:
    with recorded() as tape:
        stage = Stage(tape.group("tp", 0, 2), tape.group("pp", 1, 3))  # a middle one
        for name in ("receive", "compute", "send", "post_sum", "compute", "wait_for_sum"):
            tape.record(name, getattr(stage, name))
        return tape.segments()


def cast(stands_for: Sequence[int] = (0, 0, 2, 2)) -> Cast:
    groups = {"tp": lambda r: (r // 2 * 2, r // 2 * 2 + 1), "pp": lambda r: (r % 2, r % 2 + 2)}
    alive = np.array([0, 0, 0, 0, 4 * WIDTH**2])
    return Cast(
        stands_for,
        lambda r: [Step(name) for name in program(r // 2, 2)],
        lambda r, name: groups[name](r),
        lambda r: alive,
    )


def facts(e: Event) -> tuple:
    return e.kind, e.nbytes, e.tag, e.flops, len(e.group)


def assert_equal(played: Trace, full: Trace, stands_for: Sequence[int]) -> None:
    for rank, player in enumerate(stands_for):
        for a, b in zip(played.of_rank(player), full.of_rank(rank), strict=True):
            assert facts(a) == facts(b)
            assert (a.posted, a.start, a.end, a.wait) == pytest.approx((b.posted, b.start, b.end, b.wait), rel=1e-9)


@pytest.mark.parametrize(
    ("cluster", "stands_for"),
    [
        (GPUS, (0, 0, 2, 2)),
        (PAIRS, (0, 0, 2, 2)),  # recorded on NVLink, played over a network
        (PAIRS.with_rank(3, speed=0.5), (0, 1, 2, 3)),
        (PAIRS.with_link(0, 2, bandwidth=1e9), (0, 1, 2, 3)),
        (GPUS.with_jitter(compute=0.1, messages=0.1), (0, 1, 2, 3)),
    ],
    ids=["in a node", "between nodes", "a slow rank", "a slow link", "jitter"],
)
def test_what_is_played_is_what_the_program_does(cluster: Cluster, stands_for: Sequence[int]):
    """A tape of events could not: recorded on one network, its waits would stand where communication ended *there*."""
    segments = run(record, ranks=1, on=GPUS, fake=True).values[0]
    full = run(in_full, ranks=4, on=cluster, fake=True)
    played = play(segments, cast(stands_for), cluster)
    assert played.time == pytest.approx(full.time, rel=1e-9)
    assert_equal(played.trace, full.trace, stands_for)


def segments() -> dict:
    return run(record, ranks=1, on=GPUS, fake=True).values[0]


def test_players_that_wait_for_each_other_are_told_so():
    wrong = cast()._replace(program=lambda r: [Step("receive"), Step("send")])
    with pytest.raises(Deadlock, match="rank 0") as error:
        play(segments(), wrong, GPUS)
    assert len(error.value.states) == 2


def test_players_whose_collectives_differ_are_told_so():
    alone = cast((0, 1, 2, 3))._replace(program=lambda r: [Step(n) for n in (["compute"] if r else ["post_sum"])])
    found = segments()
    actions = [a._replace(kind="all_gather") if hasattr(a, "kind") else a for a in found["post_sum"].actions]
    with pytest.raises(Mismatch):
        play(found | {"post_sum": found["post_sum"]._replace(actions=tuple(actions))}, alone, GPUS)


def test_a_message_that_nobody_receives_is_told():
    found = segments()
    never = found["send"]._replace(actions=tuple(a for a in found["send"].actions if hasattr(a, "kind")))
    lonely = cast()._replace(program=lambda r: [Step("send")] * (r == 0))
    with pytest.raises(Unmatched):
        play(found | {"send": never}, lonely, GPUS)


def test_memory_is_that_of_the_program():
    matrix = 4 * WIDTH**2
    played = play(segments(), cast(), GPUS)
    assert played.memory[0].peak == played.memory[0].at_peak["buffers"]
    assert played.memory[0].peak > 2 * matrix
    assert played.memory[0].samples[0] == (0.0, (0, 0, 0, 0, matrix))


def many_tensors():
    Residency.log_limit = 30  # ten births and deaths, instead of 131,072
    with recorded() as tape:
        for key, number in (("few", 1), ("many", 20), ("few again", 1)):
            tape.record(key, lambda number=number: [torch.ones(4) for _ in range(number)])
        return {key: int(segment.held.highest.sum()) for key, segment in tape.segments().items()}


def test_a_long_tape_keeps_its_log():
    """The book of memory compacts its log from time to time: segments then began and ended nowhere."""
    found = run(many_tensors, ranks=1, on=GPUS, fake=True).values[0]
    assert found == {"few": 16, "many": 320, "few again": 16}


def test_the_other_end_of_a_message_is_as_many_seats_away():
    assert [nearest(offset, 3) for offset in range(3)] == [0, 1, -1]
    assert [nearest(offset, 2) for offset in range(2)] == [0, 1]
    assert [nearest(offset, 8) for offset in (1, 7, -1)] == [1, -1, -1]


def test_only_a_fake_rank_is_recorded():
    with pytest.raises(RankRaised, match="Only ranks of a fake run are recorded"):
        run(record, ranks=1, on=GPUS)


def test_ranks_that_share_cores_are_refused():
    with pytest.raises(UsageError, match="share cores"):
        play({}, cast(), find("laptop"))
