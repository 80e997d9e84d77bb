"""``torch.nn.DataParallel``, as the lecture notes print it, and why it loses against ``DistributedDataParallel``.

    model = nn.DataParallel(model)            one process, a thread for each GPU
    outputs = model(batch)                    every forward pass: (1) cut the batch, (2) send the model to all GPUs,
                                              (3) run the copies, (4) gather their outputs on the first GPU
    loss_fn(outputs, targets).backward()      (5) add up the copies' gradients on the first GPU

The notes' program never moves its parameters. Without a GPU, DataParallel then calls the model itself, once. With two
or more, it refuses. (With one it moves the model; the targets stay behind, and the loss refuses.)

K GPUs, a model of n bytes. What passes through the first GPU's port in a step, in the busier direction:

    DataParallel   n or (K-1)·n    the whole model, in each forward pass; the gradients come back. By NCCL's broadcast,
                                   which hands it from GPU to GPU, n; by K-1 copies, where NCCL is not there, (K-1)·n
    DDP            2(K-1)/K·n      the gradients, in an all-reduce behind which the backward pass goes on

So bytes alone do not decide. By NCCL n go out before the forward pass, and n come in when the backward pass is over,
because one function of autograd brings back all gradients: nothing hides either. The outputs come on top, and so does
what one Python process does for all GPUs: it makes K copies of the model's modules in each forward pass.
Sources: torch/nn/parallel/data_parallel.py and comm.py, torch/csrc/cuda/comm.cpp (NCCL where it is available).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lockstep.errors import UsageError
from lockstep.machines import find
from lockstep.tables import Table

BATCH = 32  # the notes'
SERVER = find("dgx-v100")


class Step(NamedTuple):
    """Bytes through the first GPU's port in a step of training, each way."""

    way: str
    out: float
    into: float
    hidden: bool  # whether computing goes on meanwhile


class SimpleNN(nn.Module):
    """The notes' model."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(10, 2)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.fc(x)
        return output


def forward_calls(batch: int = BATCH) -> list[int]:
    """How many examples each call of the notes' model gets, for one batch, on a machine without GPUs."""
    model, calls = SimpleNN(), list[int]()
    model.register_forward_pre_hook(lambda module, given: calls.append(len(given[0])))
    as_the_notes(model, gpus=0)(torch.ones(batch, 10))
    return calls


def refusal(gpus: int = 2) -> str:
    """What torch says to the notes' program on a machine with ``gpus`` GPUs, two or more: the words of its own check,
    which comes before anything is moved, and so needs no GPU. Raises UsageError."""
    if gpus < 2:
        raise UsageError(f"On {gpus} GPUs DataParallel makes no copies.", "Ask for 2 or more.")
    try:
        as_the_notes(SimpleNN(), gpus)(torch.ones(BATCH, 10))
    except RuntimeError as error:
        return str(error)
    return ""


def as_the_notes(model: nn.Module, gpus: int) -> nn.Module:
    """``nn.DataParallel(model)`` as its constructor leaves it on a machine with no GPU, or with two or more: it notes
    their numbers and which is the first, and moves nothing. What it noted of this machine is overwritten."""
    parallel = nn.DataParallel(model)
    parallel.device_ids = list(range(gpus))
    parallel.src_device_obj = torch.device("cuda", 0)
    parallel.module.cpu()  # here there may be one GPU, to which the constructor moves the model
    return parallel


def through_the_first_gpu(nbytes: int, gpus: int, outputs: int = 0) -> list[Step]:
    """What passes in each way of training. ``nbytes``: of the model; ``outputs``: of the outputs of all GPUs together,
    which come to the first, and whose gradients go back. The batch is left out: it comes from elsewhere in all ways."""
    if gpus < 1:
        raise UsageError(f"There is at least 1 GPU, not {gpus}.")
    others = gpus - 1
    gathered = others * outputs / gpus
    copied, handed_on, ring = others * nbytes, min(1, others) * nbytes, 2 * others * nbytes / gpus
    return [
        Step("DataParallel, copies", copied + gathered, copied + gathered, hidden=False),
        Step("DataParallel, NCCL", handed_on + gathered, handed_on + gathered, hidden=False),
        Step("DistributedDataParallel", ring, ring, hidden=True),
    ]


def first_gpu_table(nbytes: int = 10**8, gpus: int = 8, outputs: int = 0) -> Table:
    """The same, and what the bytes take on a DGX-1 with V100s. DataParallel sends out, computes, and then takes in."""
    rate = SERVER.inside.bandwidth
    head = ("a step with", "out of the first GPU", "into it", "takes", "meanwhile")
    rows = [
        (step.way, _mb(step.out), _mb(step.into), f"{1e3 * seconds(step, rate):.2f} ms", _meanwhile(step))
        for step in through_the_first_gpu(nbytes, gpus, outputs)
    ]
    return Table(f"{gpus} GPUs, a model of {_mb(nbytes)}, {rate / 1e9:.0f} GB/s a direction", head, rows)


def seconds(step: Step, rate: float) -> float:
    """DataParallel's bytes leave before the forward pass, and come in after the backward pass. A ring's do both at
    once."""
    return max(step.out, step.into) / rate if step.hidden else (step.out + step.into) / rate


def data_parallel_table() -> Table:
    """Where we differ from the notes' ``model = nn.DataParallel(model)``, and why."""
    calls = forward_calls()
    rows: Sequence[tuple[str, str, str]] = [
        (
            "Enables multi-GPU parallelism: on GPUs",
            f"RuntimeError: {refusal()}",
            "The program never moves its parameters. This is torch's own check, as on a machine with 2 GPUs.",
        ),
        (
            "The same on a CPU",
            f"{len(calls)} forward call, with {max(calls)} of {BATCH} examples",
            "Without a GPU, DataParallel calls the model itself: nothing is parallel, and nothing says so.",
        ),
    ]
    return Table("nn.DataParallel as a common sample has it", ("a common claim", "we count", "why"), rows)


def _mb(nbytes: float) -> str:
    return f"{nbytes / 1e6:.0f} MB"


def _meanwhile(step: Step) -> str:
    return "the backward pass goes on" if step.hidden else "all GPUs wait"
