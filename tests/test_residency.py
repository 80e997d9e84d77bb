"""The book of a rank's memory by itself: what counts, for how long, and as what."""

from __future__ import annotations

import gc
import itertools
import threading
from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.optim.optimizer import _global_optimizer_post_hooks
from torch.utils._python_dispatch import TorchDispatchMode

from lockstep.events import MEMORY_KINDS, Memory
from lockstep.residency import Hooks, Residency, memory_timeline


class Eye(TorchDispatchMode):
    def __init__(self, residency):
        super().__init__()
        self.residency = residency

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.residency.see(func, args, out)
        return out


class Watched:
    """A Residency that sees all that happens in a ``with`` block."""

    def __init__(self, log_limit=Residency.log_limit):
        self.log_limit = log_limit

    def __enter__(self):
        residency = Residency(itertools.count().__next__)
        residency.log_limit = self.log_limit
        self.parts = [Hooks(lambda: residency), Eye(residency)]
        for part in self.parts:
            part.__enter__()
        return residency

    def __exit__(self, *error):
        for part in reversed(self.parts):
            part.__exit__(*error)


def only(**nbytes):
    return dict.fromkeys(MEMORY_KINDS, 0) | {kind.replace("_", " "): n for kind, n in nbytes.items()}


def test_nothing():
    assert Residency().memory() == Memory(0, only(), only(), ())


def test_a_view_costs_nothing_and_keeps_all():
    with Watched() as residency:
        x = torch.zeros(100)
        part = x[:10]
        del x
        assert residency.now == 400
        del part
        assert residency.now == 0
    assert residency.memory().peaks == only(buffers=400)


def test_the_kinds_at_the_peak_add_up_and_peaks_come_at_their_own_times():
    with Watched() as residency:
        layer = nn.Linear(10, 10, bias=False)
        x = torch.ones(100, 10)
        y = layer(x)
        del x, y
        big = torch.zeros(10_000)
        del big
    mine = residency.memory()
    assert mine.peaks == only(parameters=400, activations=8000, buffers=40_000)
    assert mine.at_peak == only(parameters=400, buffers=40_000)
    assert mine.peak == 40_400


def test_what_a_storage_turns_out_to_be_holds_from_its_birth():
    """A weight is made by plain operations; it is a parameter only once a module says so."""
    with Watched() as residency:
        data = torch.ones(10, 10)
        layer = nn.Linear(10, 10, bias=False)
        layer.weight = nn.Parameter(data)
        del data
        layer(torch.ones(1, 10))
    seconds, nbytes = residency.memory().samples[0]
    assert (seconds, nbytes) == (0, (400, 0, 0, 0, 0))


def test_a_parameter_without_a_module():
    """Given to an optimizer it is one, with its gradient and its state."""
    with Watched() as residency:
        w = torch.ones(100, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        (w * 2).sum().backward()
        optimizer.step()
    peaks = residency.memory().peaks
    assert (peaks["parameters"], peaks["gradients"], peaks["optimizer state"]) == (400, 400, 400)


def test_an_optimizer_with_lists_in_its_state():
    with Watched() as residency:
        w = nn.Parameter(torch.ones(100))
        optimizer = torch.optim.LBFGS([w], max_iter=3, history_size=2)

        def loss():
            optimizer.zero_grad()
            value = (w**4).sum()
            value.backward()
            return value

        optimizer.step(loss)
    assert residency.memory().peaks["optimizer state"] >= 3 * 400


def test_gradients_that_accumulate_stay_one():
    with Watched() as residency:
        layer = nn.Linear(10, 10, bias=False)
        for _ in range(3):
            layer(torch.ones(1, 10)).sum().backward()
    assert residency.memory().peaks["gradients"] == 400


def test_a_gradient_that_is_freed_within_its_backward_pass():
    """As fully_shard does with the gradient of a gathered parameter."""
    with Watched() as residency:
        first, second = (nn.Linear(10, 10, bias=False) for _ in range(2))
        for layer in (first, second):
            layer.weight.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
        second(first(torch.ones(1, 10))).sum().backward()
    assert residency.memory().peaks["gradients"] == 400


def test_temporaries_of_a_backward_pass_are_buffers():
    with Watched() as residency:
        x = torch.ones(100, requires_grad=True)
        x.exp().exp().sum().backward()
    peaks = residency.memory().peaks
    assert peaks["gradients"] == 400
    assert peaks["buffers"] >= 400


def test_a_bucket_filled_by_hooks_is_a_gradient():
    buckets = []
    with Watched() as residency:
        layer = nn.Linear(10, 10, bias=False)
        layer.weight.register_post_accumulate_grad_hook(lambda p: buckets.append(torch.cat([p.grad, p.grad])))
        layer(torch.ones(1, 10)).sum().backward()
    assert residency.memory().peaks["gradients"] == 400 + 800


def test_a_storage_that_is_resized():
    """fully_shard frees what it gathered without letting go of the tensor."""
    with Watched() as residency:
        x = torch.zeros(100)
        y = torch.zeros(10)
        x.untyped_storage().resize_(0)
        assert residency.now == 40
        x.untyped_storage().resize_(800)
        assert residency.now == 840
        del x, y
        assert residency.now == 0
    assert residency.peak == 840


def test_an_output_that_grows():
    """torch resizes ``out`` in C++: that is seen when the operation returns it."""
    with Watched() as residency:
        out = torch.empty(0)
        torch.add(torch.ones(100), 1, out=out)
        assert residency.now == 400


def test_what_it_starts_with():
    model, x = nn.Sequential(nn.Linear(10, 10), nn.BatchNorm1d(10)), torch.zeros(5)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 10)).sum().backward()
    optimizer.step()
    n = sum(p.numel() for p in model.parameters())

    def function():
        return x

    residency = Residency()
    residency.adopt((function, [model], {"optimizer": optimizer}))
    optimizer.zero_grad()
    kinds = residency.memory().peaks
    assert kinds == only(parameters=4 * n, gradients=4 * n, optimizer_state=8 * n + 4 * 4, buffers=80 + 8 + 20)


def test_a_function_that_closes_over_a_name_without_value():
    def function():
        return later

    residency = Residency()
    residency.adopt(function)
    later = torch.zeros(5)
    assert residency.now == 0
    assert function() is later


def test_tensors_without_data_count_as_if_they_had_it():
    with FakeTensorMode() as mode, Watched() as residency:
        residency.mode = mode
        layer = nn.Linear(100_000, 100_000, bias=False)
        layer(torch.empty(10, 100_000)).sum().backward()
    peaks = residency.memory().peaks
    assert (peaks["parameters"], peaks["gradients"]) == (4 * 10**10, 4 * 10**10)
    assert peaks["activations"] >= 2 * 4 * 10**6


@pytest.mark.parametrize("mode", [nullcontext, FakeTensorMode])
def test_a_tensor_on_the_meta_device_is_no_memory(mode):
    """It counted as if it were there: a model made on "meta" in order to save memory took as much as the one that was
    made of it. With fake tensors a program may ask for "meta", too."""
    with mode() as fake, Watched() as residency:
        residency.mode = fake
        layer = nn.Linear(1000, 1000, bias=False, device="meta")
        layer(torch.empty(10, 1000, device="meta")).sum().backward()
        assert residency.now == 0
        layer.zero_grad()
        layer = layer.to_empty(device="cpu") if mode is nullcontext else nn.Linear(1000, 1000, bias=False)
        layer(torch.ones(10, 1000))
    assert residency.memory().peaks["parameters"] == 4 * 10**6
    assert residency.peak < 4 * 10**6 + 10**5


def test_a_fake_mode_that_a_program_enters_itself_is_no_memory():
    """Also where the rank's own tensors are fake, and stand for some with data."""
    with Watched() as residency, FakeTensorMode() as mode:
        for residency.mode in (None, FakeTensorMode()):
            layer = nn.Linear(1000, 1000, bias=False)
            layer(torch.empty(10, 1000)).sum().backward()
        residency.mode = mode
        assert residency.peak == 0
        nn.Linear(1000, 1000, bias=False)
    assert residency.peak == 4 * 10**6


def test_sparse_tensors_are_passed_by():
    with Watched() as residency:
        table = nn.Embedding(10, 4, sparse=True)
        table(torch.tensor([1, 2])).sum().backward()
    assert residency.memory().peaks["parameters"] == 160


def test_death_in_another_thread():
    with Watched() as residency:
        box = [torch.zeros(100)]
        thread = threading.Thread(target=box.clear)
        thread.start()
        thread.join()
    assert residency.now == 0


def test_a_tensor_that_is_freed_while_the_log_is_read(monkeypatch):
    """A run ended with "The virtual cluster has failed: IndexError: list index out of range": the last rank's thread
    freed its tensors while the memory of the run was reckoned."""
    read = memory_timeline.bytes_alive
    with Watched() as residency:
        box = [torch.zeros(100)]

        def frees(log, kinds):
            box.clear()
            return read(log, kinds)

        monkeypatch.setattr(memory_timeline, "bytes_alive", frees)
        assert residency.memory().samples[-1][1] == tuple(only(buffers=400).values())
    assert residency.now == 0


def test_what_a_backend_lets_go_of_late_is_no_gradient():
    """A buffer made in a backward pass, kept by a thread that computes nothing until after its end."""
    kept = []
    with Watched() as residency:
        layer = nn.Linear(10, 10, bias=False)
        y = layer(torch.ones(1, 10))
        y.register_hook(lambda g: kept.append(torch.zeros(1000)))
        y.sum().backward()
        torch.ones(1)
        thread = threading.Thread(target=kept.clear)
        thread.start()
        thread.join()
    assert residency.memory().peaks["gradients"] == 400
    assert residency.memory().peaks["buffers"] >= 4000


@pytest.mark.slow
def test_cycles_count_until_they_are_collected():
    gc.collect()
    gc.disable()
    try:
        with Watched() as residency:
            ring = [torch.zeros(100)]
            ring.append(ring)
            del ring
            assert residency.now == 400
            gc.collect()
            assert residency.now == 0
    finally:
        gc.enable()


def test_hooks_leave_nothing_behind():
    resize, save = torch.UntypedStorage.resize_, torch.autograd.function.FunctionCtx.save_for_backward
    with Watched():
        pass
    assert torch.UntypedStorage.resize_ is resize
    assert torch.autograd.function.FunctionCtx.save_for_backward is save
    assert not nn.modules.module._global_forward_pre_hooks
    assert not _global_optimizer_post_hooks


def test_threads_of_no_rank_are_none_of_our_business():
    with Hooks(lambda: None):
        layer = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        torch.zeros(2).untyped_storage().resize_(0)


# ---- long runs


def train(n):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(n):
        model(torch.ones(8, 20)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_a_long_run_keeps_a_short_log_and_the_same_answer():
    with Watched() as whole:
        train(30)
    with Watched(log_limit=600) as folded:
        train(30)
    assert len(folded._log) < 1200 < len(whole._log)
    assert len(folded._kinds) < len(whole._kinds)
    expected, mine = whole.memory(), folded.memory()
    assert (mine.peak, mine.at_peak, mine.peaks) == (expected.peak, expected.at_peak, expected.peaks)
    assert len(mine.samples) <= memory_timeline.SAMPLES
    assert [t for t, _ in mine.samples] == sorted(t for t, _ in mine.samples)


@pytest.mark.parametrize("n", [1, 767, 768, 769, 5000])
def test_samples_keep_the_extremes_of_each_stretch(n):
    """The sawtooth of a sharded model has its peaks, and its valleys too."""
    log = list(itertools.chain.from_iterable((i, (-1) ** i * 10 * (i + 1), float(i)) for i in range(n)))
    mine = memory_timeline.reckon(log, {})
    totals = [sum(nbytes) for _, nbytes in mine.samples]
    assert min(n, memory_timeline.SAMPLES // 2) <= len(totals) <= memory_timeline.SAMPLES
    assert max(totals) == mine.peak
    assert min(totals) == min(itertools.accumulate(log[1::3]))


def test_a_valley_lasts_no_longer_in_samples_than_it_did():
    """A unit goes and the next one comes in the same moment. The figure of lesson 08 had some of these valleys as wide
    as the time to the next peak, since what came directly after the lowest was not kept."""
    log = list[float]()
    for i in range(1000):  # 100 bytes go and come back, and a little more and less follows
        log += [0, -100, float(i), 0, 100, float(i), 1, 1, i + 0.5, 1, -1, i + 0.5]
    samples = memory_timeline.reckon([0, 200, 0.0, *log], {}).samples
    valleys = [n for n, (_, nbytes) in enumerate(samples[:-1]) if sum(nbytes) == 100]
    assert len(valleys) > 200
    assert all(samples[n + 1][0] == samples[n][0] for n in valleys)
