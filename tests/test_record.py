"""What is booked for each call of torch.distributed: the table of lockstep.record, on three real ranks."""

import json
import pickle
from dataclasses import asdict

import pytest
import record_cases as cases
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from lockstep import run
from lockstep.comm.operation import Operation
from lockstep.events import Trace
from lockstep.launch.job import Job
from lockstep.launch.processes import run_processes
from lockstep.record import replay
from lockstep.record.recorder import carrier, carriers

K = 3  # ranks
F = 4  # bytes of a float


def trace_of(fn):
    return run_processes(Job.pack(fn, (), {}, K)).trace


def booked(trace):
    """[(kind, nbytes)] in order, for each rank."""
    return [[(e.kind, e.nbytes) for e in trace.of_rank(r)] for r in range(K)]


def alike(*operations):
    return [list(operations)] * K


def on_root(kind, root, elsewhere, at=1):
    return [[(kind, root if r == at else elsewhere)] for r in range(K)]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (cases.send, [[("send", 5 * F)], [("recv", 5 * F)], []]),
        (cases.recv_from_any, [[("recv", 5 * F)] * 2, [("send", 5 * F)], [("send", 5 * F)]]),
        (cases.batch, alike(("send", 2 * F), ("recv", 2 * F))),
        (cases.broadcast, alike(("broadcast", 3 * F))),
        (cases.reduce, alike(("reduce", 3 * F))),
        (cases.all_reduce, alike(("all_reduce", 3 * F))),
        (cases.coalesced_all_reduce, alike(("all_reduce", 7 * F))),
        (cases.scatter, on_root("scatter", 3 * K * F, 3 * F)),
        (cases.gather, on_root("gather", 3 * K * F, 3 * F)),
        (cases.all_gather, alike(("all_gather", 3 * K * F))),
        (cases.all_gather_into_tensor, alike(("all_gather", 3 * K * F))),
        (cases.reduce_scatter, alike(("reduce_scatter", 3 * K * F))),
        (cases.reduce_scatter_tensor, alike(("reduce_scatter", 3 * K * F))),
        (cases.all_to_all, alike(("all_to_all", 3 * K * F))),
        (cases.all_to_all_single, alike(("all_to_all", 3 * K * F))),
        (cases.uneven_all_to_all_single, on_root("all_to_all", 2 * K * F, (K + 1) * F, at=0)),
        (cases.barrier, alike(("barrier", 0))),
        (cases.monitored_barrier, alike(("barrier", 0))),
        (
            cases.functional_ones,
            alike(
                ("all_reduce", 3 * F),
                ("all_gather", 3 * K * F),
                ("reduce_scatter", 3 * K * F),
                ("broadcast", 3 * F),
                ("all_to_all", K * F),
                ("all_gather", K * F),
                ("all_gather", 2 * K * F),
            ),
        ),
    ],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_the_table(case, expected):
    trace = trace_of(case)
    assert booked(trace) == expected
    for event in trace:
        assert 0 <= event.start <= event.end
        assert event.where.startswith("record_cases.py, line ")
        assert event.where.endswith(f", in {case.__name__}")
        assert event.message is not None
        assert event.backend == "gloo"


def test_the_backend_is_that_of_the_tensors_device():
    """A group may have two: gloo for what is in the host's memory, NCCL for what is on a GPU."""
    of_device = carriers("cpu:gloo,cuda:nccl")
    with FakeTensorMode():
        on_host, on_gpu = torch.empty(3), torch.empty(3, device="cuda")
    assert carrier(of_device, [on_host]) == "gloo"
    assert carrier(of_device, [on_gpu]) == "nccl"
    assert carrier(of_device, []) == ""


def test_a_trace_keeps_its_backends():
    trace = trace_of(cases.send)
    again = Trace.from_json(json.loads(json.dumps(trace.to_json())))
    assert again == trace
    assert {e.backend for e in again} == {"gloo"}


def test_on_the_virtual_cluster_nothing_real_carries_them():
    trace = run(cases.send, ranks=K, on="dgx-a100").trace
    assert {e.backend for e in trace.communication} == {"virtual"}


def pickled(thing):
    return len(pickle.dumps(thing))


@pytest.mark.parametrize(
    ("case", "kinds"),
    [
        (cases.all_gather_object, ["all_gather", "all_gather"]),
        (cases.gather_object, ["all_gather", "gather"]),
        (cases.broadcast_object_list, ["broadcast", "broadcast"]),
        (cases.scatter_object_list, ["broadcast", "scatter", "scatter"]),
    ],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_object_collectives_are_plain_ones(case, kinds):
    for rank in booked(trace_of(case)):
        assert [kind for kind, _ in rank] == kinds


def test_sizes_of_object_collectives():
    assert booked(trace_of(cases.all_gather_object)) == alike(("all_gather", 8 * K), ("all_gather", K * pickled("xx")))
    one = pickled("a")
    assert booked(trace_of(cases.broadcast_object_list)) == alike(("broadcast", 16), ("broadcast", 2 * one))
    first, second, third = booked(trace_of(cases.gather_object))
    assert first == third == [("all_gather", 8 * K), ("gather", pickled("x"))]
    assert second == [("all_gather", 8 * K), ("gather", K * pickled("x"))]
    first, second, third = booked(trace_of(cases.scatter_object_list))
    assert first == third == [("broadcast", 8), ("scatter", one), ("scatter", 8)]
    assert second == [("broadcast", 8), ("scatter", K * one), ("scatter", 8 * K)]
    assert booked(trace_of(cases.send_object_list)) == [
        [("send", 16), ("send", 2 * one)],
        [("recv", 16), ("recv", 2 * one)],
        [],
    ]


def test_peers_tags_and_messages():
    (send,), (recv,), _ = (trace_of(cases.send).of_rank(r) for r in range(K))
    assert (send.peer, send.tag, send.group) == (1, 7, (0, 1, 2))
    assert (recv.peer, recv.tag, recv.group) == (0, 7, (0, 1, 2))
    assert send.message == recv.message


def test_a_recv_from_any_knows_its_source_in_the_end():
    trace = trace_of(cases.recv_from_any)
    recvs = trace.of_kind("recv")
    assert sorted(e.peer for e in recvs) == [1, 2]
    for recv in recvs:
        (send,) = trace.of_rank(recv.peer)
        assert send.message == recv.message


def test_roots_and_peers_are_global_ranks_in_a_group():
    trace = trace_of(cases.in_a_group)
    assert trace.of_rank(0) == ()
    for rank, peer in ((1, 2), (2, 1)):
        broadcast, message = trace.of_rank(rank)
        assert (broadcast.peer, broadcast.group) == (2, (1, 2))
        assert (message.peer, message.group) == (peer, (1, 2))


def test_an_asynchronous_operation_ends_when_it_is_done_and_waits_only_in_wait():
    """Rank 1 comes 0.2 s late, rank 0 waits 0.4 s later: so rank 0 stands still for nobody, rank 2 for rank 1."""
    ends = trace_of(cases.async_overlap).of_kind("all_reduce")
    by_rank = {e.rank: e for e in ends}
    assert by_rank[0].duration > by_rank[1].duration
    assert by_rank[2].wait > 2 * by_rank[0].wait
    assert by_rank[2].wait > 2 * by_rank[1].wait
    assert len({e.message for e in ends}) == 1


def test_a_blocking_send_waits_for_its_recv():
    (send,) = trace_of(cases.late_recv).of_kind("send")
    (recv,) = trace_of(cases.late_recv).of_kind("recv")
    assert send.wait > recv.wait


def test_ddp():
    """Parameters are compared and broadcast once; then one all_reduce of all gradients, 10 x 3 weights and 3 biases."""
    for rank in range(K):
        kinds = [(e.kind, e.nbytes) for e in trace_of(cases.ddp).of_rank(rank)]
        assert kinds.count(("all_reduce", 33 * F)) == 1
        assert {kind for kind, _ in kinds} == {"all_gather", "broadcast", "all_reduce"}


def test_the_end_of_what_ddp_waits_for_is_seen():
    trace = trace_of(cases.ddp)
    for event in trace.of_kind("all_reduce"):
        assert event.start < event.end <= trace.time


def test_fsdp():
    """All-gather for forward and backward, reduce-scatter of the gradient: 12 x 12 weights."""
    for rank in booked(trace_of(cases.fsdp)):
        assert rank.count(("reduce_scatter", 144 * F)) == 1
        assert {n for kind, n in rank if kind == "all_gather"} == {144 * F}


def test_tensor_parallel():
    """One all_reduce of the output: 2 x 4."""
    for rank in booked(trace_of(cases.tensor_parallel)):
        assert [o for o in rank if o[0] == "all_reduce"] == [("all_reduce", 8 * F)]


def test_dtensor():
    for rank in booked(trace_of(cases.dtensor)):
        assert ("all_gather", 12 * F) in rank


def test_nothing_hides_a_message():
    for rank in booked(trace_of(cases.hidden)):
        assert rank == [("all_reduce", 3 * F)] * 3


def test_a_journal_that_breaks_off_is_read_as_far_as_it_goes():
    fields = (0, "send", 0.5, 4, 1, (0, 1), "0")
    whole = pickle.dumps((0, fields)) + pickle.dumps((0, {"end": 1.5, "waiting": False}))
    assert list(map(asdict, replay(whole))) == [asdict(Operation(*fields, end=1.5))]
    for cut in range(len(whole)):
        assert list(map(asdict, replay(whole[:cut]))) in ([], [asdict(Operation(*fields))])


def test_the_reduction_is_noted_where_it_is_known():
    """c10d hides it in an object; functional collectives say it; the reducer of DDP asks from C++ and stays unknown."""
    from lockstep.record.reduce_ops import Reductions, name_of

    logs = run_processes(Job.pack(cases.reductions, (), {}, K, record=False)).values
    assert logs == [(["MAX", "SUM", "PRODUCT", "MIN", "SUM", "MAX", ""], {""})] * K
    assert name_of(3) == name_of(None) == ""
    assert Reductions().of({"reduce_op": object()}) == ""


def test_what_was_watched_is_as_before_afterwards():
    """ProcessGroup.allreduce, put back by its value, was no method any more: the next call had no group."""
    assert run_processes(Job.pack(cases.after_a_recorder, (), {}, K, record=False)).values == [K**4] * K


@pytest.mark.slow
def test_what_a_rank_compiles_runs_and_is_booked_as_ever():
    """torch guards each operation of a mode from its compiler, unless the mode says that it need not."""

    def fn():
        x = torch.ones(2)
        torch.compile(lambda: torch.distributed.all_reduce(x), backend="eager")()
        return torch.compile(lambda x: 2 * x + 1, backend="eager")(x).tolist()

    result = run(fn, ranks=2, on="processes")
    assert result.values == [[5.0, 5.0]] * 2
    assert [e.kind for e in result.trace.of_rank(0)] == ["all_reduce"]
