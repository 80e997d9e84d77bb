"""The formulas against messages counted one by one, in schedules that are seen to give the right sums."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lockstep.cost.algorithms import (
    Cost,
    all_reduce_table,
    all_reduces,
    binary_tree,
    binomial_tree,
    halving_doubling_all_reduce,
    naive_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_reduce,
    star,
    unchunked_ring_all_reduce,
)
from lockstep.errors import UsageError

CHUNK = 60  # bytes
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 31, 32]
POWERS = [1, 2, 4, 8, 16, 32]


@dataclass(frozen=True)
class Message:
    """Rank ``src`` sends ``chunks`` of its tensor in round ``when``; ``dst`` adds them to its own, or takes them."""

    when: int
    src: int
    dst: int
    chunks: tuple[int, ...]
    adds: bool


def star_reduce(k: int) -> Iterator[Message]:
    for worker in range(1, k):
        yield Message(worker, worker, 0, tuple(range(k)), adds=True)


def binary_reduce(k: int) -> Iterator[Message]:
    """The broadcast, whose messages leave as soon as their sender is free, played backwards."""
    arrival = {0: 0}
    for rank in range(1, k):
        arrival[rank] = arrival[(rank - 1) // 2] + (1 if rank % 2 else 2)
    last = max(arrival.values())
    for rank in range(1, k):
        yield Message(last + 1 - arrival[rank], rank, (rank - 1) // 2, tuple(range(k)), adds=True)


def binomial_reduce(k: int) -> Iterator[Message]:
    when, offset = 1, 1
    while offset < k:
        for rank in range(offset, k, 2 * offset):
            yield Message(when, rank, rank - offset, tuple(range(k)), adds=True)
        when, offset = when + 1, 2 * offset


def backwards(messages: list[Message]) -> list[Message]:
    """A reduce played backwards is a broadcast."""
    last = max((m.when for m in messages), default=0)
    return [Message(last + 1 - m.when, m.dst, m.src, m.chunks, adds=False) for m in messages]


def then(first: list[Message], second: list[Message]) -> list[Message]:
    last = max((m.when for m in first), default=0)
    return first + [Message(last + m.when, m.src, m.dst, m.chunks, m.adds) for m in second]


def ring(k: int) -> list[Message]:
    messages = []
    for step in range(k - 1):
        messages += [Message(step + 1, r, (r + 1) % k, ((r - step) % k,), adds=True) for r in range(k)]
    for step in range(k - 1):
        messages += [Message(k + step, r, (r + 1) % k, ((r + 1 - step) % k,), adds=False) for r in range(k)]
    return messages


def recursive_doubling(k: int) -> list[Message]:
    rounds = k.bit_length() - 1
    return [Message(s + 1, r, r ^ (1 << s), tuple(range(k)), adds=True) for s in range(rounds) for r in range(k)]


def halving(k: int) -> Iterator[Message]:
    """Rank r keeps the half in which its own chunk lies, and sends the other half to its partner."""
    when, offset = 1, k // 2
    while offset:
        for r in range(k):
            partner = r ^ offset
            low = partner // offset * offset
            yield Message(when, r, partner, tuple(range(low, low + offset)), adds=True)
        when, offset = when + 1, offset // 2


def summed(messages: list[Message], k: int) -> list[list[Counter[int]]]:
    """Whose parts are in each chunk of each rank afterwards. All messages of a round leave before any arrives."""
    state = [[Counter([rank]) for _ in range(k)] for rank in range(k)]
    for when in sorted({m.when for m in messages}):
        under_way = [(m, c, state[m.src][c]) for m in messages if m.when == when for c in m.chunks]
        for message, c, part in under_way:
            state[message.dst][c] = state[message.dst][c] + part if message.adds else part
    return state


def hand_count(messages: list[Message], k: int, name: str, kind: str, alpha: float, beta: float) -> Cost:
    size = {m: len(m.chunks) * CHUNK for m in messages}
    sent, received, number = Counter(), Counter(), Counter()
    for m in messages:
        sent[m.src] += size[m]
        received[m.dst] += size[m]
        number[m.src] += 1
    rounds = sorted({m.when for m in messages})
    seconds = sum(alpha + beta * max(size[m] for m in messages if m.when == when) for when in rounds)
    most = max(number.values(), default=0)
    port = max([*sent.values(), *received.values()], default=0)
    bytes_ = sum(size.values())
    return Cost(name, kind, seconds, len(rounds), len(messages), most, bytes_, max(sent.values(), default=0), port)


def agree(formula: Cost, messages: list[Message], k: int) -> None:
    counted = hand_count(messages, k, formula.algorithm, formula.kind, 1e-5, 1e-9)
    for field in ("rounds", "messages", "messages_per_rank", "nbytes", "nbytes_per_rank", "busiest_port"):
        assert getattr(formula, field) == pytest.approx(getattr(counted, field)), field
    assert formula.seconds == pytest.approx(counted.seconds)
    for port in (lambda m: m.src, lambda m: m.dst):
        assert max(Counter((m.when, port(m)) for m in messages).values(), default=1) == 1, (
            "one message a port and round"
        )


TREES = {
    "star": (star, star_reduce),
    "binary": (binary_tree, binary_reduce),
    "binomial": (binomial_tree, binomial_reduce),
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("k", SIZES)
def test_star_and_trees_against_their_messages(name: str, k: int) -> None:
    formula, schedule = TREES[name]
    up = list(schedule(k))
    down = backwards(up)
    everyone = Counter(range(k))
    agree(formula(k * CHUNK, k, 1e-5, 1e-9, "reduce"), up, k)
    agree(formula(k * CHUNK, k, 1e-5, 1e-9, "broadcast"), down, k)
    agree(formula(k * CHUNK, k, 1e-5, 1e-9, "all_reduce"), then(up, down), k)
    assert summed(up, k)[0] == [everyone] * k
    assert summed(then(up, down), k) == [[everyone] * k] * k


@pytest.mark.parametrize("k", SIZES)
def test_ring_against_its_messages(k: int) -> None:
    agree(ring_all_reduce(k * CHUNK, k, 1e-5, 1e-9), ring(k), k)
    assert summed(ring(k), k) == [[Counter(range(k))] * k] * k


@pytest.mark.parametrize("k", POWERS)
def test_recursive_doubling_against_its_messages(k: int) -> None:
    agree(recursive_doubling_all_reduce(k * CHUNK, k, 1e-5, 1e-9), recursive_doubling(k), k)
    assert summed(recursive_doubling(k), k) == [[Counter(range(k))] * k] * k


@pytest.mark.parametrize("k", POWERS)
def test_halving_doubling_against_its_messages(k: int) -> None:
    first = list(halving(k))
    both = then(first, backwards(first))
    agree(halving_doubling_all_reduce(k * CHUNK, k, 1e-5, 1e-9), both, k)
    assert summed(both, k) == [[Counter(range(k))] * k] * k


@pytest.mark.parametrize("k", SIZES)
def test_naive_and_the_unchunked_ring_send_everything_everywhere(k: int) -> None:
    whole = tuple(range(k))
    naive = [Message(s, r, (r + s) % k, whole, adds=True) for s in range(1, k) for r in range(k)]
    passed_on = [Message(s, r, (r + 1) % k, whole, adds=True) for s in range(1, k) for r in range(k)]
    agree(naive_all_reduce(k * CHUNK, k, 1e-5, 1e-9), naive, k)
    agree(unchunked_ring_all_reduce(k * CHUNK, k, 1e-5, 1e-9), passed_on, k)


@pytest.mark.parametrize("k", [2, 4, 8, 16, 64])
def test_what_the_notes_have_wrong(k: int) -> None:
    n, log = 1000 * k, k.bit_length() - 1
    assert ring_all_reduce(n, k).nbytes == 2 * (k - 1) * n
    assert unchunked_ring_all_reduce(n, k).nbytes == k * (k - 1) * n
    assert recursive_doubling_all_reduce(n, k).nbytes == k * log * n
    assert halving_doubling_all_reduce(n, k).nbytes == 2 * (k - 1) * n
    assert star(n, k, kind="all_reduce").rounds == 2 * (k - 1)
    assert star(n, k, kind="all_reduce").busiest_port == (k - 1) * n


@pytest.mark.parametrize("k", range(5, 200, 13))
def test_a_binary_tree_spares_every_port_and_a_binomial_one_takes_fewer_rounds(k: int) -> None:
    binary, binomial = (tree(1000, k, kind="all_reduce") for tree in (binary_tree, binomial_tree))
    assert binary.busiest_port == 3000
    assert binary.rounds <= 4 * (k - 1).bit_length()
    assert binomial.rounds <= binary.rounds


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9])
def test_the_table_holds_what_applies(k: int) -> None:
    table = all_reduce_table(1000, k, 1e-5, 1e-9)
    assert [cost.algorithm for cost in table] == list(all_reduces(k))
    assert ("halving_doubling" in all_reduces(k)) == (k in (1, 2, 8))
    assert all(cost.kind == "all_reduce" for cost in table)
    assert k > 1 or all(cost.seconds == cost.messages == cost.nbytes == cost.busiest_port == 0 for cost in table)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_more_bytes_take_more_time_and_no_all_reduce_moves_fewer_than_the_least(k: int) -> None:
    for small, large in zip(all_reduce_table(1000, k, 1e-5, 1e-9), all_reduce_table(9000, k, 1e-5, 1e-9), strict=True):
        assert small.seconds < large.seconds
        assert small.nbytes >= 2 * (k - 1) * 1000


def test_bad_input_is_told_what_is_wrong() -> None:
    with pytest.raises(UsageError, match=r"power of two: 1, 2, 4, 8 \.\.\. ranks, not 6"):
        halving_doubling_all_reduce(10, 6)
    with pytest.raises(UsageError, match="power of two"):
        recursive_doubling_all_reduce(10, 0)
    with pytest.raises(UsageError, match="at least 1 rank and 0 bytes"):
        ring_all_reduce(10, 0)
    with pytest.raises(UsageError, match="at least 1 rank and 0 bytes"):
        star(-1, 2)
    with pytest.raises(UsageError, match="broadcast, reduce, all_reduce"):
        binomial_tree(1, 2, kind="gather")
