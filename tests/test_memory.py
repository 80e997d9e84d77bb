"""The memory of a rank by kind: worked out by hand, and the same in every world."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import memory_cases as cases
import pytest
import torch

from lockstep import run
from lockstep.events import MEMORY_KINDS, Memory

CLUSTER = "dgx-a100"
F = 4  # bytes of a float
WEIGHTS = F * 2 * cases.D * cases.H  # of the MLP
X, HIDDEN = F * cases.B * cases.D, F * cases.B * cases.H  # a batch; what is between the layers
LOSS = 2 * F  # the sum, and the 1 that its backward pass begins with


pytestmark = pytest.mark.xdist_group("memory")  # what a case holds is kept for all of its tests


@cache
def memory(case, world) -> list[Memory]:
    fn = getattr(cases, case)
    options = {"fake": {"on": CLUSTER, "fake": True}, "virtual": {"on": CLUSTER}}.get(world, {"on": world})
    return list(run(fn, ranks=2, **options).memory)


def peaks(case, world="virtual"):
    first, second = memory(case, world)
    assert first.peaks == second.peaks
    return first.peaks


ALONE = (
    "momentum", "adam", "by_hand", "deep", "checkpointed", "normalized", "inference", "custom", "left_behind",
)  # fmt: skip
TOGETHER = ("ddp", "sharded", "tensor_parallel", "pipeline")


@pytest.mark.slow
@pytest.mark.parametrize("case", ALONE)
def test_equal_on_real_ranks(case):
    for real, virtual in zip(memory(case, "processes"), memory(case, "virtual"), strict=True):
        assert (real.peak, real.at_peak, real.peaks) == (virtual.peak, virtual.at_peak, virtual.peaks)


@pytest.mark.parametrize("case", TOGETHER)
def test_equal_on_real_ranks_that_communicate(case):
    """gloo's thread may let go of a buffer a moment after its operation has ended: then buffers are more, by one or
    two of the largest that are communicated (the weights or gradients of a layer or, with DDP, of all layers)."""
    late = 2 * (WEIGHTS if case == "ddp" else WEIGHTS // 2)
    for real, virtual in zip(memory(case, "processes"), memory(case, "virtual"), strict=True):
        for kind in MEMORY_KINDS[:-1]:
            assert real.peaks[kind] == virtual.peaks[kind], kind
        assert virtual.peaks["buffers"] <= real.peaks["buffers"] <= virtual.peaks["buffers"] + late
        assert virtual.peak <= real.peak <= virtual.peak + late


@pytest.mark.parametrize("case", [*ALONE, *TOGETHER])
def test_equal_without_data(case):
    for fake, virtual in zip(memory(case, "fake"), memory(case, "virtual"), strict=True):
        assert (fake.peak, fake.at_peak, fake.peaks) == (virtual.peak, virtual.at_peak, virtual.peaks)


# ---- by hand


def test_a_training_step_with_momentum():
    """Three activations at once: the batch, and the hidden layer before and after ReLU. In the backward pass two
    temporaries, the hidden layer's gradient after and before ReLU."""
    assert peaks("momentum") == {
        "parameters": WEIGHTS,
        "gradients": WEIGHTS,
        "optimizer state": WEIGHTS,
        "activations": X + 2 * HIDDEN,
        "buffers": 2 * HIDDEN,
    }


def test_when_the_peak_comes():
    """In the second step, with the state of the optimizer there: halfway through the backward pass, when the hidden
    layer's gradient is alive twice, the last weight's gradient is there and the first one's is not."""
    mine = memory("momentum", "virtual")[0]
    assert mine.at_peak == {
        "parameters": WEIGHTS,
        "gradients": WEIGHTS // 2,
        "optimizer state": WEIGHTS,
        "activations": X + HIDDEN + LOSS,
        "buffers": 2 * HIDDEN,
    }
    assert mine.peak == sum(mine.at_peak.values())


def test_adam_keeps_eight_bytes_for_each_parameter():
    """And one number for each tensor: the count of its steps."""
    assert peaks("adam")["optimizer state"] == 2 * WEIGHTS + 2 * F


def test_without_an_optimizer():
    """p -= lr * p.grad: no state, and lr * p.grad is a temporary."""
    assert peaks("by_hand")["optimizer state"] == 0
    assert peaks("by_hand")["gradients"] == WEIGHTS
    assert peaks("by_hand")["buffers"] == max(WEIGHTS // 2, 2 * HIDDEN)


def test_activations_grow_with_depth():
    """Of each block the hidden layer after ReLU and the output; in the last one the hidden layer before ReLU too."""
    assert peaks("deep")["activations"] == X + 7 * (HIDDEN + X) + 2 * HIDDEN


def test_checkpoints_keep_the_inputs_of_blocks():
    """And of one block at a time what is computed again."""
    assert peaks("checkpointed")["activations"] == X + 8 * X + 2 * HIDDEN + LOSS
    assert peaks("checkpointed")["parameters"] == peaks("deep")["parameters"] == 8 * WEIGHTS


def test_what_a_module_registers_as_a_buffer_is_one():
    """Mean and variance of H features, and a count of batches; beside them a temporary gradient."""
    assert peaks("normalized")["buffers"] == 2 * F * cases.H + 8 + HIDDEN


def test_what_is_not_recorded_is_no_activation():
    assert peaks("inference")["activations"] == 0
    assert peaks("inference")["buffers"] == X + 2 * HIDDEN


def test_what_an_autograd_function_saves_is_an_activation():
    """The batch, the layer's output, and its exponential, which nobody else holds; the sum."""
    assert peaks("custom")["activations"] == X + 2 * HIDDEN + F


def test_a_gradient_that_no_parameter_holds():
    assert peaks("left_behind")["gradients"] == WEIGHTS // 2


def test_ddp_holds_gradients_twice():
    """In its buckets and in .grad. The buckets are there from the beginning."""
    assert peaks("ddp")["gradients"] == 2 * WEIGHTS
    assert peaks("ddp")["parameters"] == peaks("ddp")["optimizer state"] == WEIGHTS


@pytest.mark.skipif(torch.__version__ >= "2.15", reason="fully_shard gathers and frees at other moments")
def test_fully_shard_divides_parameters_gradients_and_state():
    """Between two ranks, with one layer of two gathered at a time."""
    shard, layer = WEIGHTS // 2, WEIGHTS // 2
    assert peaks("sharded")["optimizer state"] == 2 * shard + 2 * F
    assert peaks("sharded")["gradients"] == shard + layer
    assert memory("sharded", "virtual")[0].at_peak["parameters"] == shard  # while a gradient is reduced
    making = WEIGHTS + shard // 2  # both layers whole while the first is sharded
    assert peaks("sharded")["parameters"] == max(making, shard + layer)


def test_tensor_parallel_divides_weights_and_hidden_layer():
    assert peaks("tensor_parallel")["gradients"] == WEIGHTS // 2
    assert peaks("tensor_parallel")["activations"] == X + 2 * (HIDDEN // 2)


def test_a_pipeline():
    """Each stage has a weight. What the second one receives is its activation, and the gradient that it sends back
    is a gradient to it, a buffer to the first."""
    first, second = memory("pipeline", "virtual")
    assert first.peaks["parameters"] == second.peaks["parameters"] == WEIGHTS // 2
    assert first.peaks["activations"] == X + HIDDEN
    assert second.peaks["activations"] == HIDDEN + X + F
    assert (first.peaks["buffers"], second.peaks["buffers"]) == (HIDDEN, 0)
    assert second.peaks["gradients"] == WEIGHTS // 2 + HIDDEN


# ---- what a result tells


def test_the_total_is_the_old_list():
    result = run(cases.adam, ranks=2, on=CLUSTER)
    assert list(result.peak_memory) == [m.peak for m in result.memory]


def test_a_time_line_for_figures():
    result = run(cases.momentum, ranks=1, on=CLUSTER)
    mine = result.memory[0]
    times = [seconds for seconds, _ in mine.samples]
    totals = [sum(nbytes) for _, nbytes in mine.samples]
    assert times == sorted(times)
    assert 0 <= times[0] < times[-1] <= result.time
    assert max(totals) == mine.peak
    assert dict(zip(MEMORY_KINDS, mine.samples[totals.index(mine.peak)][1], strict=True)) == mine.at_peak


@pytest.mark.parametrize("world", ["processes", CLUSTER])
def test_arguments_and_what_a_function_closes_over_count(world):
    model, x = torch.nn.Linear(10, 10, bias=False), torch.ones(50)

    def fn(y):
        return len(x) + sum(p.numel() for p in model.parameters())

    (mine,) = run(fn, torch.ones(25), ranks=1, on=world).memory
    assert mine.peaks == dict.fromkeys(MEMORY_KINDS, 0) | {"parameters": 400, "buffers": 300}


@pytest.mark.slow
def test_under_a_launcher():
    """The same under torchrun, and nothing stays behind in the process."""
    program = Path(__file__).with_name("memory_under_a_launcher.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=program.parent)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"memory {[m.peaks for m in memory('momentum', 'virtual')]}" in done.stdout
