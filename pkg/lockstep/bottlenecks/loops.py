"""Every sick loop beside its cure, with the counter that tells them apart: both run in the same call.

    measure("many small files")     Pair(sick=1.0, cured=0.016, …): opens for each sample

A counter counts what the program *does*: opens, messages, late batches, padded tokens. It is the same on a busy
machine, where seconds are not. Each loop also has the seconds of both, so that a ratio from one run may stand
beside the count.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import torch
from torch import nn

from lockstep.bottlenecks import (
    checkpoints,
    corruption,
    failures,
    lengths,
    light_work,
    operations_seen,
    shards,
    streams,
    tiny_messages,
    unequal,
)
from lockstep.bottlenecks.file_counters import counted
from lockstep.bottlenecks.prefetching import Prefetched
from lockstep.bottlenecks.resumable import ResumableLoader
from lockstep.cost.loading import best_interval
from lockstep.errors import UsageError
from lockstep.worlds import Result, run

REAL, VIRTUAL = "real", "virtual"
CLUSTER = "dgx-a100"  # that is simulated


@dataclass(frozen=True)
class Pair:
    """A loop with its illness and without: the counter's two values, and the seconds of both, real or virtual."""

    sick: float
    cured: float
    sick_seconds: float
    cured_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as long the sick one took."""
        return self.sick_seconds / self.cured_seconds


@dataclass(frozen=True)
class Loop:
    """``healthy_at_most``: the counter's value up to which the loop does not have this illness."""

    name: str
    counter: str
    cure: str
    time: str  # REAL or VIRTUAL
    healthy_at_most: float
    measure: Callable[[], Pair]


def timed(fn: Callable[[], float]) -> tuple[float, float]:
    """What ``fn`` returns, and its seconds."""
    began = perf_counter()
    found = fn()
    return found, perf_counter() - began


def pair(sick: Callable[[], float], cured: Callable[[], float]) -> Pair:
    """Both in turn; each returns its counter."""
    (a, a_seconds), (b, b_seconds) = timed(sick), timed(cured)
    return Pair(a, b, a_seconds, b_seconds)


# ---- data


def small_files(samples: int = 256, nbytes: int = 4096) -> Pair:
    """Opens, for each sample."""
    with tempfile.TemporaryDirectory() as folder:
        data = [bytes([n % 256]) * nbytes for n in range(samples)]
        files, packed = shards.write_small_files(data, folder), shards.pack(data, folder, per_shard=samples // 2)

        def opens(read: Callable[[], list[bytes]]) -> float:
            with counted() as use:
                assert read() == data
            return use.opens / samples

        return pair(
            lambda: opens(lambda: list(shards.read_small_files(files))),
            lambda: opens(lambda: list(shards.read_shards(packed))),
        )


def scattered_reads(samples: int = 256, nbytes: int = 4096) -> Pair:
    """Seeks, for each sample: a shuffled order, sample by sample, or the shards in their own order."""
    with tempfile.TemporaryDirectory() as folder:
        per_shard = samples // 4
        packed = shards.pack([bytes(nbytes)] * samples, folder, per_shard)
        in_order = [(n // per_shard, n % per_shard) for n in range(samples)]
        shuffled = [in_order[n] for n in np.random.default_rng(0).permutation(samples)]

        def seeks(order: list[tuple[int, int]]) -> float:
            with counted() as use:
                assert sum(map(len, shards.read_scattered(packed, order))) == samples * nbytes
            return use.seeks / samples

        return pair(lambda: seeks(shuffled), lambda: seeks(in_order))


def starved(batches: int = 24, load: float = 4e-3, compute: float = 8e-3) -> Pair:
    """The share of steps that did not find their batch there. Loading waits, as for a storage across the network."""

    def late(workers: int) -> float:
        loader = Prefetched(lambda key: sleep(load), range(batches), workers, depth=8)
        for _ in loader:
            sleep(compute)  # the host waits for the GPU
        return loader.waits.late / batches

    return pair(lambda: late(0), lambda: late(2))


def preprocessing(samples: int = 6, epochs: int = 2) -> Pair:
    """Samples decoded while training, for each sample that is used: in each epoch, or once before."""
    rng = np.random.default_rng(0)
    raw = [zlib.compress(rng.integers(0, 8, 60_000, dtype=np.uint8).tobytes(), 1) for _ in range(samples)]
    decoded = [decode(data) for data in raw]  # before the training: its time counts once, and not here

    def train(decodes: bool) -> float:
        number = 0
        for _ in range(epochs):
            for before, data in zip(decoded, raw, strict=True):
                x = decode(data) if decodes else before
                number += decodes
                x[:57_600].view(240, 240) @ x[:57_600].view(240, 240)
        return number / (samples * epochs)

    train(True)  # warm
    return pair(lambda: train(True), lambda: train(False))


def decode(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(zlib.decompress(data)), dtype=torch.uint8).float() / 255


def unequal_lengths(sequences: int = 480, batch: int = 16) -> Pair:
    """The share of computed tokens that is padding."""
    rng = np.random.default_rng(0)
    own = np.clip(rng.lognormal(4.0, 0.8, sequences), 4, 512).astype(int).tolist()
    weights = torch.randn(64, 64)
    torch.ones(1, 64) @ weights  # warm

    def train(batches: lengths.Batches) -> float:
        for b in batches:
            torch.ones(len(b) * max(own[n] for n in b), 64) @ weights
        return lengths.padding(own, batches)

    return pair(lambda: train(lengths.as_they_come(own, batch)), lambda: train(lengths.bucketed(own, batch)))


def restart(samples: int = 120, batch: int = 4) -> Pair:
    """Samples of an epoch that were seen twice, after a restart in its middle."""

    def twice(resumes: bool) -> float:
        seen, loader = list[int](), ResumableLoader(samples, batch)
        for step, numbers in enumerate(loader):
            seen += numbers
            if step == 12:
                break  # the job is killed
        state, again = loader.state_dict(), ResumableLoader(samples, batch)
        if resumes:
            again.load_state_dict(state)
        for numbers in again:
            seen += numbers
        return len(seen) - len(set(seen))

    return pair(lambda: twice(False), lambda: twice(True))


# ---- the step


def scalars_read(steps: int = 60) -> Pair:
    """Scalars read out of tensors, for each step."""

    def train(every: int, steps: int = steps) -> float:
        model = nn.Linear(16, 1)
        sgd, x, total = torch.optim.SGD(model.parameters(), 0.01), torch.randn(32, 16), torch.zeros(())
        with operations_seen.Operations() as seen:
            for step in range(steps):
                sgd.zero_grad()
                loss = model(x).square().mean()
                loss.backward()
                sgd.step()
                total += loss.detach()
                if (step + 1) % every == 0:
                    total.item()
        return float(seen.scalars / steps)

    train(1, steps=1)  # warm
    return pair(lambda: train(1), lambda: train(30))


def prints(steps: int = 200) -> Pair:
    """Write calls, for each step: a line that is flushed at once, or all lines at the end."""
    with tempfile.TemporaryDirectory() as folder:

        def train(flush: bool) -> float:
            with open(Path(folder) / "log.txt", "w") as log, counted() as use:
                for step in range(steps):
                    print(f"step {step}", file=log, flush=flush)
            if use.writes is None:
                raise UsageError("This system has no /proc, which counts write calls.")
            return use.writes / steps

        return pair(lambda: train(True), lambda: train(False))


def memory_traffic(elements: int = 2_000_000) -> Pair:
    """Bytes to and from memory, for each of an element-wise formula's elements (4 in, 4 out is the least)."""
    x = torch.randn(elements)
    operations_seen.gelu_written_out(x), operations_seen.gelu_fused(x)  # warm

    def moved(fn: Callable[[torch.Tensor], torch.Tensor]) -> float:
        with operations_seen.Operations() as seen:
            fn(x)
        return float(seen.nbytes / elements)

    return pair(lambda: moved(operations_seen.gelu_written_out), lambda: moved(operations_seen.gelu_fused))


def light(tasks: int = 1000) -> Pair:
    """How often the process gave up its core to wait, for each task."""
    work = [[float(n)] * 10 for n in range(tasks)]

    def waits(fn: Callable[[list[list[float]]], list[float]]) -> float:
        before = light_work.switches()
        assert len(fn(work)) == tasks
        return (light_work.switches() - before) / tasks

    return pair(lambda: waits(light_work.on_workers), lambda: waits(light_work.alone))


def checkpointing(steps: int = 30, elements: int = 4_000_000) -> Pair:
    """The share of checkpoints during whose write no step was done. The seconds are those of the training: the write
    may go on after it."""
    state = {"weights": torch.randn(elements)}

    def train(is_blocking: bool) -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as folder, checkpoints.BackgroundWriter() as writer:
            file, done, began = Path(folder) / "checkpoint.pt", 0, perf_counter()
            if is_blocking:
                checkpoints.write(state, file)
            else:
                writer.save(state, file)
            for _ in range(steps):
                done += writer.is_writing
                state["weights"][:1000] += 1
            return float(done == 0), perf_counter() - began

    (a, a_seconds), (b, b_seconds) = train(True), train(False)
    return Pair(a, b, a_seconds, b_seconds)


# ---- several ranks


def tiny_all_reduces(parameters: int = 64, ranks: int = 2, on: str | None = None) -> Pair:
    """All-reduces of a rank for each step. On processes; a simulated cluster counts the same."""
    sizes = [250] * parameters
    one = run(reduced, sizes, False, ranks=ranks, on=on)
    few = run(reduced, sizes, True, ranks=ranks, on=on)

    def count(of: Result) -> float:
        return float(len([event for event in of.trace.of_rank(0) if event.kind == "all_reduce"]))

    return Pair(count(one), count(few), max(one.values), max(few.values))


def reduced(sizes: list[int], in_buckets: bool) -> float:
    """Runs on each rank: the all-reduces of a step; its seconds."""
    gradients = [torch.ones(size) for size in sizes]
    reduce = tiny_messages.in_buckets if in_buckets else tiny_messages.one_by_one
    began = perf_counter()
    reduce(gradients)
    return perf_counter() - began


def corrupted(ranks: int = 4) -> Pair:
    """Replicas whose checksum differs from that of most; virtual ranks, real checksums."""
    sick, cured = (run(checked, flips, ranks=ranks, on=CLUSTER) for flips in (True, False))
    return Pair(len(sick.values[0]), len(cured.values[0]), sick.time, cured.time)


def checked(flips: bool) -> list[int]:
    """Runs on each rank: equal weights, of which a bit is flipped on rank 2."""
    weights = torch.linspace(-1, 1, 1000)
    if flips and torch.distributed.get_rank() == 2:
        corruption.flip_bit(weights, element=17, bit=3)
    return corruption.corrupt_ranks([weights])


def straggler() -> Pair:
    """Computing of the slowest rank, by the mean."""
    sick, cured = unequal.straggling(), unequal.straggling(rows=unequal.rows_by_speed(3, 0.5))
    of = [unequal.imbalance(unequal.computing(r.trace)) for r in (sick, cured)]
    return Pair(of[0], of[1], sick.time, cured.time)


def slow_link() -> Pair:
    """Bytes per second of the fastest link, by those of the slowest."""

    def spread(of: Result) -> float:
        found = unequal.rates(of.trace).values()
        return max(found) / min(found)

    sick, cured = unequal.over_slow_link(), unequal.healthy()
    return Pair(spread(sick), spread(cured), sick.time, cured.time)


# ---- one virtual GPU


def _gpu(sick: streams.Streams, cured: streams.Streams, counter: Callable[[streams.Streams], float]) -> Pair:
    return Pair(counter(sick), counter(cured), sick.time, cured.time)


def pageable_copies() -> Pair:
    """The share of the time in which the host is blocked by copies."""
    step = streams.Step()
    sick, cured = streams.train(step, 10), streams.train(step, 10, pinned=True)
    return _gpu(sick, cured, lambda gpu: sum(s.end - s.begin for s in gpu.spans if _is_copy_wait(s)) / gpu.time)


def _is_copy_wait(span: streams.Span) -> bool:
    return span.kind == "wait" and span.name.startswith("copy")


def copies_in_line() -> Pair:
    """The share of the time in which no kernel runs: copies before the step, or beside the one before."""
    step = streams.Step()
    sick, cured = (streams.train(step, 10, pinned=True, overlapped=o) for o in (False, True))
    return _gpu(sick, cured, lambda gpu: 1 - gpu.computing() / gpu.time)


def preprocessing_on_host() -> Pair:
    """The share of the time in which the GPU's compute stream is idle."""
    on_host, on_gpu = streams.Step(preprocess_on_host=12e-3), streams.Step(preprocess_on_gpu=1e-3)
    sick, cured = (streams.train(s, 10, pinned=True, overlapped=True) for s in (on_host, on_gpu))
    return _gpu(sick, cured, streams.Streams.idle)


def stalls() -> Pair:
    """The share of the time in which the GPU is idle: a scalar is read each step, or once in 20."""
    step = streams.Step(compute=200e-6, kernels=10, nbytes=1e5, host=100e-6)
    sick, cured = (streams.train(step, 40, pinned=True, overlapped=True, item_every=n) for n in (1, 20))
    return _gpu(sick, cured, streams.Streams.idle)


def failing() -> Pair:
    """The share of a job's time that is not kept: checkpoints once a day, or at Young's interval."""
    hour, write, between, restart_ = 3600.0, 60.0, 4 * 3600.0, 600.0
    sick, cured = (
        failures.live(t, write, between, restart_, work=30 * 24 * hour)
        for t in (8 * hour, best_interval(write, between))
    )
    return Pair(1 - sick.goodput, 1 - cured.goodput, sick.time, cured.time)


LOOPS = (
    Loop("many small files", "opens a sample", "pack samples into shards", REAL, 0.1, small_files),
    Loop("scattered reads", "seeks a sample", "read shards from end to end", REAL, 0.1, scattered_reads),
    Loop("a starved step", "share of steps whose batch was not there", "prefetch with workers", REAL, 0.5, starved),
    Loop("preprocessing in each epoch", "samples decoded for each used", "decode before training", REAL, 0.5,
         preprocessing),
    Loop("unequal lengths", "share of tokens that is padding", "bucket by length", REAL, 0.25, unequal_lengths),
    Loop("a loader without a state", "samples seen twice after a restart", "save the loader’s position", REAL, 0,
         restart),
    Loop("a scalar read each step", "scalars read a step", "read it every so many steps", REAL, 0.1, scalars_read),
    Loop("a print each step", "write calls a step", "print less often, without flush", REAL, 0.1, prints),
    Loop("unfused element-wise work", "bytes moved an element", "fuse: torch.compile, or a fused operation", REAL, 16,
         memory_traffic),
    Loop("light work made parallel", "waits of the process a task", "don’t: one thread, larger tasks", REAL, 0.3,
         light),
    Loop("a blocking checkpoint", "share of writes during which no step is done", "copy, and write in the background",
         REAL, 0.5, checkpointing),
    Loop("tiny all-reduces", "all-reduces a step", "flatten into buckets", REAL, 4, tiny_all_reduces),
    Loop("silent corruption", "replicas that differ", "compare checksums; restart from a good checkpoint", VIRTUAL, 0,
         corrupted),
    Loop("pageable copies", "share of the time the host is blocked by copies", "pinned memory", VIRTUAL, 0.05,
         pageable_copies),
    Loop("copies in line", "share of the time without a kernel", "copy on a stream of its own", VIRTUAL, 0.2,
         copies_in_line),
    Loop("preprocessing on the host", "share of the time the GPU is idle", "preprocess on the GPU", VIRTUAL, 0.2,
         preprocessing_on_host),
    Loop("a stall each step", "share of the time the GPU is idle", "synchronize less often", VIRTUAL, 0.2, stalls),
    Loop("a straggler", "slowest rank’s computing by the mean", "give it less work, or replace it", VIRTUAL, 1.1,
         straggler),
    Loop("a slow link", "fastest link’s rate by the slowest’s", "replace it, or order ranks around it", VIRTUAL, 1.1,
         slow_link),
    Loop("failures", "share of the time that is not kept", "checkpoints at the best interval", VIRTUAL, 0.25, failing),
)  # fmt: skip


def find(name: str) -> Loop:
    """The loop of that name. Raises UsageError with all names if there is none."""
    for loop in LOOPS:
        if loop.name == name:
            return loop
    raise UsageError(f"There is no loop named {name!r}.", f"Choose one of: {', '.join(loop.name for loop in LOOPS)}.")


def measure(name: str) -> Pair:
    """The loop of that name, with its illness and without, in the same call."""
    return find(name).measure()
