"""When messages take place that are posted at once: no port stays idle while something that is ready could use it.

An all-to-all by isend and irecv took 20 message times instead of 7 with 8 ranks, and 1,056 instead of 63 with 64: ports
were booked in the order in which ranks were met, and gaps were never filled.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from itertools import pairwise

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.collectives import halving_doubling_all_reduce, ring_all_reduce, tree_broadcast
from lockstep.comm.backend_rules import RENDEZVOUS
from lockstep.comm.operation import Operation
from lockstep.cost.contention import Calendar
from lockstep.machines import Cluster, Device, Link
from lockstep.straggler import burn
from lockstep.virtual.network import NEVER, Network

MESSAGE = 1.0 / 1024 + 1000 / 2**20  # seconds: alpha + n·beta, exact in binary
WIRE, SLOW = Link(1.0 / 1024, 1 / 2**20), Link(8.0 / 1024, 8 / 2**20)
PLAIN = Device("plain", {"float32": 1e9}, memory_bandwidth=float("inf"), memory=10**9, launch_overhead=0.0)
CLUSTER = Cluster("by hand", PLAIN, 64, WIRE, WIRE)
NODES = Cluster("two nodes", PLAIN, 2, WIRE, SLOW)

ORDERS = {
    "by peer": lambda r, K: [p for p in range(K) if p != r],
    "rotated": lambda r, K: [(r + i) % K for i in range(1, K)],
    "reversed": lambda r, K: [p for p in reversed(range(K)) if p != r],
    "at random": lambda r, K: random.Random(r).sample([p for p in range(K) if p != r], K - 1),
}


def post_all(peers, receive_first=False):
    K = dist.get_world_size()
    outgoing, incoming = torch.zeros(K, 250), torch.zeros(K, 250)
    sends = [(dist.isend, outgoing[p], p) for p in peers]
    recvs = [(dist.irecv, incoming[p], p) for p in peers]
    for work in [post(x, p) for post, x, p in (recvs + sends if receive_first else sends + recvs)]:
        work.wait()


FEW = (2, 3, 4, 5, 8, 13)  # in every run of the tests, in all orders; the largest in the worst one


def ranks_and_orders() -> list[object]:
    every = [(K, order) for K in (*range(2, 18), 33, 64) for order in ORDERS]
    often = [K in FEW or (K, order) == (64, "at random") for K, order in every]
    return [pytest.param(*row, marks=() if fast else pytest.mark.slow) for row, fast in zip(every, often, strict=True)]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("K", "order"), ranks_and_orders())
def test_an_all_to_all_takes_as_many_turns_as_there_are_peers(K, order):
    """Whichever way it is posted: exactly (K - 1)(alpha + n·beta)."""
    result = run(lambda: post_all(ORDERS[order](dist.get_rank(), K), K % 2), ranks=K, on=CLUSTER)
    assert result.time == (K - 1) * MESSAGE


def test_an_all_to_all_of_a_group_takes_no_longer_for_who_is_in_it():
    """Turns are counted in ranks of the group."""

    def fn():
        group = dist.new_group([1, 4, 5, 7])
        if (seat := dist.get_rank(group)) < 0:
            return
        x = torch.zeros(4, 250)
        works = [dist.isend(x[p], group=group, group_dst=p) for p in range(4) if p != seat]
        works += [dist.irecv(x[p], group=group, group_src=p) for p in range(4) if p != seat]
        for work in works:
            work.wait()

    assert run(fn, ranks=8, on=CLUSTER).time == 3 * MESSAGE


def test_a_rank_has_a_port_of_its_own_to_either_kind_of_link():
    """A rank that sent inside its node and to another one at once took 190.7 µs = 16.7 + 174.0."""

    def fn():
        r, x = dist.get_rank(), torch.zeros(250)
        for work in [dist.isend(x, 1), dist.isend(x, 2)] if r == 0 else [dist.irecv(x, 0)]:
            work.wait()
        return time.perf_counter()

    assert run(fn, ranks=3, on=NODES).values == [8 * MESSAGE, MESSAGE, 8 * MESSAGE]


def test_a_collective_inside_a_node_leaves_the_ports_to_other_nodes_free():
    def fn():
        r, x = dist.get_rank(), torch.zeros(250)
        node = [dist.new_group([0, 1]), dist.new_group([2, 3])][r // 2]
        works = [dist.all_reduce(torch.zeros(2500), group=node, async_op=True)]
        works.append(dist.isend(x, r + 2) if r < 2 else dist.irecv(x, r - 2))
        for work in works:
            work.wait()

    events = run(fn, ranks=4, on=NODES).trace.events
    assert {e.start for e in events} == {0.0}


def test_work_between_posts_costs_at_most_twice_the_busiest_port():
    """Messages become ready one after another, and what is booked never moves."""
    K = 8

    def fn():
        x, y = torch.zeros(K, 250), torch.ones(1000)
        works = []
        for p in ORDERS["by peer"](dist.get_rank(), K):
            works += [dist.isend(x[p], p), dist.irecv(x[p], p)]
            time.sleep(random.Random(dist.get_rank()).random() * MESSAGE / 4)
            y += 1
        for work in works:
            work.wait()

    assert (K - 1) * MESSAGE <= run(fn, ranks=K, on=CLUSTER).time <= 2 * (K - 1) * MESSAGE


def exchange(seed):
    """Each rank posts messages to random peers in a random order, computes between, and waits for all."""
    K, draw = dist.get_world_size(), random.Random(seed)
    pairs = [p for p in [(draw.randrange(K), draw.randrange(K)) for _ in range(6 * K)] if p[0] != p[1]]
    sizes = [draw.choice([1, 250, 1000]) for _ in pairs]
    mine, works = [], []
    for tag, ((a, b), n) in enumerate(zip(pairs, sizes, strict=True)):
        if dist.get_rank() in (a, b):
            mine.append((tag, a, b, n))
    draw = random.Random(f"{seed} {dist.get_rank()}")
    draw.shuffle(mine)
    for tag, a, b, n in mine:
        x = torch.zeros(n)
        works.append(dist.isend(x, b, tag=tag) if a == dist.get_rank() else dist.irecv(x, a, tag=tag))
        if draw.random() < 0.2:
            time.sleep(draw.random() * MESSAGE)
    for work in works:
        work.wait()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(8))
def test_the_same_trace_when_ranks_of_one_time_act_in_another_order(seed):
    traces = [run(exchange, seed, ranks=6, on=NODES, ties=ties).trace for ties in (None, 1, 2, 3)]
    assert traces[0] == traces[1] == traces[2] == traces[3]


UNEQUAL = NODES.with_rank(1, speed=0.5).with_link(0, 3, bandwidth=2**18)
JITTERY = UNEQUAL.with_jitter(compute=0.2, messages=0.3, seed=3)


def step(n):
    """Messages to all others, a ring, an all-reduce beside an operation, a batch."""
    rank, K = dist.get_rank(), dist.get_world_size()
    post_all([p for p in range(K) if p != rank])
    ring_all_reduce(torch.ones(n))
    work = dist.all_reduce(torch.ones(n), async_op=True)
    torch.ones(1000).mul_(2)
    work.wait()
    ends = [(dist.isend, rank + 1), (dist.irecv, rank - 1), (dist.isend, rank - 1), (dist.irecv, rank + 1)]
    for work in dist.batch_isend_irecv([dist.P2POp(post, torch.zeros(n), peer % K) for post, peer in ends]):
        work.wait()


@pytest.mark.sampled(9)
@pytest.mark.parametrize("rules", ["rendezvous", "mpi", "nccl"])
@pytest.mark.parametrize("cluster", [NODES, UNEQUAL, JITTERY], ids=["equal", "unequal", "jitter"])
def test_the_same_trace_whatever_the_rules_and_the_ranks_are(cluster, rules):
    """Under "mpi" and "nccl" traces differed: who came first at one time decided whether a small send was buffered."""
    for n in (100, 300_000):  # buffered, and not
        traces = [run(step, n, ranks=5, on=cluster, rules=rules, ties=ties).trace for ties in (None, 1, 2, 3)]
        assert traces[0] == traces[1] == traces[2] == traces[3]


def test_what_ranks_post_after_a_look_at_one_time_is_of_one_moment():
    """Two ranks looked with is_completed() at one time, and then both sent to a third: the rank that came first had its
    message booked before the other could send."""

    def fn():
        rank, x = dist.get_rank(), torch.zeros(3, 100)
        if rank == 2:
            works = [dist.irecv(x[0], 0), dist.irecv(x[1], 1)]
        else:
            works = [dist.irecv(x[0], 1 - rank)]
            works[0].is_completed()
            works += [dist.isend(x[1], 2), dist.isend(x[2], 1 - rank)]
        for work in works:
            work.wait()

    traces = [run(fn, ranks=3, on=CLUSTER, ties=ties).trace for ties in (None, *range(6))]
    assert all(trace == traces[0] for trace in traces)
    assert [e.peer for e in sorted(traces[0].of_kind("recv"), key=lambda e: e.start) if e.rank == 2] == [1, 0]


def test_a_receive_from_any_source_takes_the_oldest_send_and_then_the_lowest_rank_whoever_acts_first():
    def fn():
        rank, x = dist.get_rank(), torch.zeros(1)
        if rank == 0:
            return [dist.recv(x) for _ in range(8)]
        time.sleep([0, 2, 1, 2, 1][rank])
        dist.send(x, 0)
        dist.send(x, 0)
        return None

    for ties in (None, *range(5)):
        assert run(fn, ranks=5, on=CLUSTER, ties=ties).values[0] == [2, 4, 2, 4, 1, 3, 1, 3]


def test_a_receive_from_any_source_and_a_named_one_are_served_in_the_order_of_posting():
    def fn():
        rank, x = dist.get_rank(), torch.zeros(3)
        if rank:
            return dist.send(torch.full((1,), float(rank)), 0)
        named = [dist.irecv(x[:1], 1), dist.irecv(x[1:2]), dist.irecv(x[2:], 3)]
        for work in named:
            work.wait()
        return x.tolist()

    for ties in (None, *range(5)):
        assert run(fn, ranks=4, on=CLUSTER, ties=ties).values[0] == [1, 2, 3]


# Virtual seconds at commit f2a2a98, before messages of one moment were booked together.
AS_EVER = {
    ("ring", 3, "dgx-a100"): 2.56237083799248e-05,
    ("ring", 17, "dgx-a100"): 0.0005163094393722417,
    ("ring", 8, "commodity-10g"): 0.00037171603046874994,
    ("tree", 8, "dgx-a100"): 1.4242003707699854e-05,
    ("tree", 17, "commodity-10g"): 0.00014303555078125,
    ("halving-doubling", 16, "dgx-a100"): 6.857955504986103e-05,
    ("halving-doubling", 8, "commodity-10g"): 0.00016369019609375,
    ("ping-pong", 2, "dgx-a100"): 3.813529507928723e-05,
    ("ping-pong", 2, "commodity-10g"): 0.00028401953125000004,
    ("server", 9, "dgx-a100"): 0.0002309521961745955,
    ("server", 9, "commodity-10g"): 0.0012173619531249992,
}


def ping_pong():
    x, peer = torch.zeros(1000), 1 - dist.get_rank()
    for _ in range(5):
        for act in (dist.send, dist.recv) if dist.get_rank() == 0 else (dist.recv, dist.send):
            act(x, peer)


def server():
    """Whoever asks first is answered first."""
    rank, x = dist.get_rank(), torch.zeros(100)
    for _ in range(3 * (dist.get_world_size() - 1) if rank == 0 else 3):
        if rank == 0:
            dist.send(x, dist.recv(x))
        else:
            time.sleep(1e-6 * (rank * 7 % 5))
            dist.send(x, 0)
            dist.recv(x, 0)


PROGRAMS = {
    "ring": lambda: ring_all_reduce(torch.ones(1001)),
    "tree": lambda: tree_broadcast(torch.ones(1001), src=1),
    "halving-doubling": lambda: halving_doubling_all_reduce(torch.ones(1001)),
    "ping-pong": ping_pong,
    "server": server,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("program", "K", "on"), AS_EVER)
def test_algorithms_without_contention_take_what_they_took(program, K, on):
    assert run(PROGRAMS[program], ranks=K, on=on).time == AS_EVER[program, K, on]


# ---- the network alone: open sets of messages, without ranks


def booked(K, messages, cluster):
    """Book (source, destination, bytes, posted) as the scheduler would. The sends."""
    network = Network(K, cluster, RENDEZVOUS, lambda rank, time: None)
    sends = []
    for number, (a, b, nbytes, posted) in enumerate(sorted(messages, key=lambda m: m[3])):
        while network.moment < posted:
            network.settle()
        tensor, group = torch.zeros(nbytes, dtype=torch.uint8), tuple(range(K))
        ends = (Operation(r, kind, posted, nbytes, p, group, "0") for kind, r, p in (("send", a, b), ("recv", b, a)))
        send, recv = ends
        send.turn, send.number = (b - a) % K, number
        send.tensors, recv.tensors = tensor, tensor.clone()
        network.send(send)
        network.recv(recv)
        sends.append(send)
    while network.moment < NEVER:
        network.settle()
    return sends


def ports(send, cluster):
    kind = cluster.node(send.rank) == cluster.node(send.peer)
    return ("out", send.rank, kind), ("in", send.peer, kind)


def ends_by_appending(sends, cluster):
    """When each message would end if no gap was ever filled."""
    free, last, ends = defaultdict(float), defaultdict(float), []
    for send in sends:
        start = max(send.posted, last[send.rank, send.peer], *(free[p] for p in ports(send, cluster)))
        end = start + cluster.link(send.rank, send.peer).time(send.nbytes)
        for port in ports(send, cluster):
            free[port] = end
        last[send.rank, send.peer] = end
        ends.append(end)
    return ends


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", range(30))
def test_open_sets_of_messages_are_booked_well(seed):
    """A hundred a seed: no overlap on a port, order within a pair, left-justified, none later than by appending."""
    for i in range(100):
        draw = random.Random(1000 * seed + i)
        K, cluster = draw.randint(2, 9), draw.choice([CLUSTER, NODES])
        moments = draw.choice([1, 2, 30])
        pairs = [draw.sample(range(K), 2) for _ in range(draw.randint(1, 40))]
        sends = booked(
            K, [(a, b, draw.choice([8, 1000, 4096]), draw.randrange(moments) * MESSAGE / 4) for a, b in pairs], cluster
        )
        in_order = sorted(sends, key=lambda s: (s.posted, s.turn, s.rank, s.number))
        check_ports(sends, cluster)
        check_pairs(sends)
        check_left_justified(in_order, cluster)
        assert all(s.end <= end for s, end in zip(in_order, ends_by_appending(in_order, cluster), strict=True))


def check_ports(sends, cluster):
    busy = defaultdict(list)
    for send in sends:
        for port in ports(send, cluster):
            busy[port].append((send.start, send.end))
    for spans in busy.values():
        assert all(a[1] <= b[0] for a, b in pairwise(sorted(spans))), "two messages on one port at one time"


def check_pairs(sends):
    of_pair = defaultdict(list)
    for send in sorted(sends, key=lambda s: s.number):
        of_pair[send.rank, send.peer].append(send)
    for messages in of_pair.values():
        assert all(a.end <= b.start for a, b in pairwise(messages)), "a message overtook an earlier one of its pair"


def check_left_justified(in_order, cluster):
    """Each could not have begun earlier, given what was booked before."""
    calendars, last = defaultdict(Calendar), defaultdict(float)
    for send in in_order:
        ready, seconds = max(send.posted, last[send.rank, send.peer]), send.end - send.start
        mine = [calendars[p] for p in ports(send, cluster)]
        start = ready
        while any(c.earliest(start, seconds) > start for c in mine):
            start = max(c.earliest(start, seconds) for c in mine)
        assert send.start == start
        for calendar in mine:
            calendar.book(send.start, send.end)
        last[send.rank, send.peer] = send.end


def served_by_whoever_is_first() -> list[int]:
    """Rank 0 answers whoever is first; rank 1 computes four times as long as rank 2 before it asks again."""
    x, order = torch.zeros(1), list[int]()
    if dist.get_rank() == 0:
        works = {rank: dist.isend(x, rank) for rank in (1, 2)}
        while works:
            order.append(dist.recv(torch.empty(1)))
            works.pop(order[-1]).wait()
            if order.count(order[-1]) < 3:
                works[order[-1]] = dist.isend(torch.zeros(1), order[-1])
        return order
    for _ in range(3):
        dist.recv(torch.empty(1), 0)
        burn(1e8 / dist.get_rank() ** 2)
        dist.send(x, 0)
    return order


def test_a_receive_from_any_source_takes_no_message_of_the_future() -> None:
    """It took rank 1's, which had computed ahead, while rank 2 was about to go on, and to send before: who waits for
    its own operation settled all others' too, without counting itself among those that were able to run."""
    assert run(served_by_whoever_is_first, ranks=3, on=CLUSTER).values[0] == [2, 2, 2, 1, 1, 1]
