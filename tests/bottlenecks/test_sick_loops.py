"""Each sick loop, its cure, and the counter that tells them apart."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lockstep import run
from lockstep.bottlenecks import checkpoints, corruption, lengths, loops, operations_seen, shards, tiny_messages
from lockstep.bottlenecks.file_counters import counted, read_at
from lockstep.bottlenecks.prefetching import Prefetched
from lockstep.bottlenecks.resumable import ResumableLoader
from lockstep.errors import UsageError

NAMES = [loop.name for loop in loops.LOOPS]


@pytest.mark.parametrize("name", [n for n in NAMES if n != "tiny all-reduces"])
def test_a_counter_tells_the_sick_loop_from_the_cured(name: str) -> None:
    found, loop = loops.measure(name), loops.find(name)
    assert found.cured <= loop.healthy_at_most < found.sick


def test_tiny_all_reduces_move_the_same_bytes_in_fewer_messages() -> None:
    found = loops.tiny_all_reduces(on="virtual")
    assert (found.sick, found.cured) == (64, 1)
    one, few = (run(loops.reduced, [250] * 64, b, ranks=2, on="virtual") for b in (False, True))
    assert sum(e.nbytes for e in one.trace.of_rank(0)) == sum(e.nbytes for e in few.trace.of_rank(0)) == 64 * 1000


def test_an_unknown_loop_is_told() -> None:
    with pytest.raises(UsageError, match="no loop named 'x'"):
        loops.find("x")


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)


# ---- files


@pytest.mark.skipif(not Path("/proc/thread-self/io").exists(), reason="the kernel's counters are in /proc")
def test_bytes_and_reads_are_those_of_this_thread(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes(100_000))
    stop = threading.Event()
    other = threading.Thread(target=lambda: [file.read_bytes() for _ in iter(stop.is_set, True)])
    other.start()
    try:
        with counted() as use:
            opened = os.open(file, os.O_RDONLY)
            for _ in range(10):
                os.pread(opened, 10_000, 0)
            os.close(opened)
    finally:
        stop.set()
        other.join()
    assert use.opens == 1
    assert use.reads == 10
    assert use.nbytes is not None
    assert abs(use.nbytes - 100_000) < 50  # digits of the counters themselves


def test_a_read_that_goes_on_where_the_last_one_ended_is_no_seek(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes(range(100)))
    opened = os.open(file, os.O_RDONLY)
    with counted() as use:
        assert read_at(opened, 0, 10) + read_at(opened, 10, 5) == bytes(range(15))
        assert use.seeks == 0
        read_at(opened, 0, 1)
        read_at(opened, 50, 1)
        assert use.seeks == 2
    os.close(opened)


@pytest.mark.parametrize("per_shard", [1, 3, 7, 100])
def test_shards_have_all_samples_in_order(tmp_path: Path, per_shard: int) -> None:
    samples = [bytes([n]) * (n % 4) for n in range(20)]  # some are empty
    packed = shards.pack(samples, tmp_path, per_shard)
    assert list(shards.read_shards(packed)) == samples
    assert len(packed) == -(-20 // per_shard)
    last = [((n // per_shard), n % per_shard) for n in range(19, -1, -1)]
    assert list(shards.read_scattered(packed, last)) == samples[::-1]


def test_a_shard_of_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds nothing"):
        shards.pack([b"x"], tmp_path, 0)


# ---- loaders


@pytest.mark.parametrize(("workers", "depth"), [(0, 2), (1, 1), (3, 2), (2, 50)])
def test_prefetching_keeps_the_order(workers: int, depth: int) -> None:
    loader = Prefetched(lambda key: key * key, range(20), workers, depth)
    assert list(loader) == [n * n for n in range(20)]
    assert loader.waits.ready + loader.waits.late == 20


def test_prefetching_is_bounded_by_its_depth() -> None:
    loaded: list[int] = []
    loader = iter(Prefetched(lambda key: loaded.append(key), range(100), workers=2, depth=3))
    for taken in range(1, 6):
        next(loader)
        assert len(loaded) <= taken + 3


def test_an_error_of_a_load_reaches_the_consumer() -> None:
    with pytest.raises(ZeroDivisionError):
        list(Prefetched(lambda key: 1 // key, [1, 0], workers=2))


@pytest.mark.parametrize("after", [0, 1, 4, 9])
def test_no_sample_is_seen_twice_with_another_number_of_ranks(after: int) -> None:
    """48 samples: on 4 ranks with batches of 1, then on 2 ranks with batches of 3."""
    first = [ResumableLoader(48, 1, rank, 4, seed=3) for rank in range(4)]
    seen = []
    for loader in first:
        batches = iter(loader)
        for _ in range(after):
            seen += next(batches)
    states = [loader.state_dict() for loader in first]
    assert all(state == states[0] for state in states)
    for rank in range(2):
        loader = ResumableLoader(48, 3, rank, 2, seed=3)
        loader.load_state_dict(states[0])
        for batch in loader:
            seen += batch
    assert len(seen) == len(set(seen))
    assert 48 - len(seen) < 6  # what fills no step


def test_epochs_differ_and_ranks_agree() -> None:
    loader = ResumableLoader(10, 1, seed=1)
    orders = [[n for batch in loader for n in batch] for _ in range(2)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == list(range(10))


def test_a_state_of_other_data_is_told() -> None:
    with pytest.raises(UsageError, match="10 samples"):
        ResumableLoader(11, 1).load_state_dict(ResumableLoader(10, 1).state_dict())


# ---- the step


@pytest.mark.parametrize("make", [lengths.as_they_come, lengths.bucketed])
@pytest.mark.parametrize("number", [1, 5, 64, 101])
def test_every_sequence_is_in_one_batch(make: Callable[..., lengths.Batches], number: int) -> None:
    own = [1 + n * 37 % 90 for n in range(number)]
    batches = make(own, 8)
    assert sorted(n for batch in batches for n in batch) == list(range(number))
    assert max(map(len, batches)) <= 8


def test_a_window_of_all_has_the_least_padding() -> None:
    own = [1 + n * 37 % 90 for n in range(320)]
    shares = [lengths.padding(own, lengths.bucketed(own, 8, window)) for window in (1, 5, 40)]
    assert shares == sorted(shares, reverse=True)


def test_operations_are_counted() -> None:
    x = torch.ones(1000)
    with operations_seen.Operations() as seen:
        y = x + x
        assert y.view(10, 100).T.shape == (100, 10)
    assert (seen.number, seen.nbytes, seen.scalars) == (1, 12_000, 0)
    with operations_seen.Operations() as seen:
        float(y.sum())
        bool(y[0] > 1)
    assert seen.scalars == 2


def test_both_gelus_are_the_same() -> None:
    x = torch.randn(1000, dtype=torch.float64)
    torch.testing.assert_close(operations_seen.gelu_written_out(x), operations_seen.gelu_fused(x))


@pytest.mark.slow
def test_graph_breaks_are_found() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        print(y.sum().item())
        return y + 1

    assert operations_seen.graph_breaks(broken, torch.ones(3))
    assert not operations_seen.graph_breaks(operations_seen.gelu_written_out, torch.ones(3))


def test_a_checkpoint_is_of_the_moment_it_was_saved(tmp_path: Path) -> None:
    state = {"weights": torch.zeros(100_000), "step": 7}
    with checkpoints.BackgroundWriter() as writer:
        writer.save(state, tmp_path / "a.pt")
        state["weights"] += 1
    found = torch.load(tmp_path / "a.pt")
    assert found["step"] == 7
    assert not found["weights"].any()
    assert [p.name for p in tmp_path.iterdir()] == ["a.pt"]


def test_a_write_that_failed_is_not_lost(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), checkpoints.BackgroundWriter() as writer:
        writer.save({"x": torch.zeros(1)}, tmp_path / "no folder" / "a.pt")


# ---- ranks


def reduced_both_ways() -> bool:
    gradients = [torch.arange(n, dtype=torch.float32) + torch.distributed.get_rank() for n in (1, 5, 100, 3)]
    ours = [g.clone() for g in gradients]
    tiny_messages.one_by_one(gradients)
    tiny_messages.in_buckets(ours, nbytes=64)
    return all(map(torch.equal, gradients, ours))


def test_buckets_have_the_same_means() -> None:
    assert all(run(reduced_both_ways, ranks=4, on="virtual").values)


def test_a_bucket_holds_what_fits_and_one_dtype() -> None:
    tensors = [torch.ones(n) for n in (4, 4, 100, 4)] + [torch.ones(4, dtype=torch.float64)]
    found = [[t.numel() for t in bucket] for bucket in tiny_messages.buckets(tensors, 40)]
    assert found == [[4, 4], [100], [4], [4]]


@pytest.mark.parametrize("bit", range(32))
def test_each_flipped_bit_changes_the_checksum(bit: int) -> None:
    weights = torch.linspace(-1, 1, 100)
    before = corruption.checksum([weights])
    corruption.flip_bit(weights, 41, bit)
    assert corruption.checksum([weights]) != before
    corruption.flip_bit(weights, 41, bit)
    assert corruption.checksum([weights]) == before


def test_two_elements_that_changed_places_are_seen() -> None:
    assert corruption.checksum([torch.tensor([1.0, 2.0])]) != corruption.checksum([torch.tensor([2.0, 1.0])])


def two_replicas() -> list[int]:
    return corruption.corrupt_ranks([torch.tensor([float(torch.distributed.get_rank())])])


def test_of_two_nobody_knows_which_is_right() -> None:
    assert run(two_replicas, ranks=2, on="virtual").values[0] == [0, 1]
