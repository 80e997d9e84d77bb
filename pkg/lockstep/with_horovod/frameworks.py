"""Frameworks for distributed training: the lecture notes' names, those of today, and their documentation.

The notes are of 2021; since then some names have changed. Each cell of TABLE has its name, or several that its page
uses for the same thing, and a sentence of that page. All were looked up in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lockstep.tables import Table

TENSORFLOW = "tensorflow.org/api_docs/python/tf/distribute"
HOROVOD = "horovod.readthedocs.io/en/stable"
TORCH = "docs.pytorch.org/docs/stable"
LIGHTNING = "lightning.ai/docs/pytorch/stable"
ONEDNN = "oneapi-src.github.io/oneDNN/v3.0/dev_guide_transition_to_dnnl.html"


@dataclass(frozen=True)
class Cell:
    """A cell of TABLE. ``names``: the first is the usual one. ``says``: a sentence, or a part of one, from ``page``."""

    names: tuple[str, ...]
    says: str
    page: str
    given: bool = False  # learners see it from the start
    before: tuple[str, ...] = ()  # what it was once called
    beside: tuple[tuple[str, str], ...] = ()  # names close by that are not asked for, and what each is


TABLE: dict[str, dict[str, Cell]] = {
    "tf.distribute": {
        "strategy: all GPUs of one machine, synchronous": Cell(
            ("MirroredStrategy",),
            "Synchronous training across multiple replicas on one machine.",
            f"{TENSORFLOW}/MirroredStrategy",
            given=True,
        ),
        "strategy: several machines, synchronous": Cell(
            ("MultiWorkerMirroredStrategy",),
            "A distribution strategy for synchronous training on multiple workers.",
            f"{TENSORFLOW}/MultiWorkerMirroredStrategy",
        ),
        "strategy: parameter servers, asynchronous": Cell(
            ("ParameterServerStrategy",),
            "By default, workers read and update these variables independently without synchronizing with each other. "
            "Under this configuration, it is known as asynchronous training.",
            f"{TENSORFLOW}/experimental/ParameterServerStrategy",
        ),
        "today's name of CollectiveCommunication": Cell(
            ("CommunicationImplementation",),
            "Cross device communication implementation.",
            f"{TENSORFLOW}/experimental/CommunicationImplementation",
            before=("CollectiveCommunication",),
        ),
    },
    "Horovod": {
        "command that starts the ranks": Cell(
            ("horovodrun",),
            "Gloo mode uses horovodrun to launch worker processes.",
            f"{HOROVOD}/install.html",
        ),
        "wraps an optimizer, averages gradients": Cell(
            ("DistributedOptimizer",),
            "An optimizer that wraps another torch.optim.Optimizer, using an allreduce to combine gradient values "
            "before applying gradients to model weights.",
            f"{HOROVOD}/api.html",
            given=True,
        ),
        "gives all ranks rank 0's weights": Cell(
            ("broadcast_parameters",),
            "Broadcasts the parameters from root rank to all other processes.",
            f"{HOROVOD}/api.html",
            beside=(
                ("broadcast_variables", "the name in horovod.tensorflow; that in horovod.torch is wanted"),
                ("broadcast_global_variables", "the name in horovod.tensorflow; that in horovod.torch is wanted"),
            ),
        ),
    },
    "torch.distributed": {
        "command that starts the ranks": Cell(
            ("torchrun",),
            "torchrun can be used for single-node distributed training, in which one or more processes per node will "
            "be spawned.",
            f"{TORCH}/elastic/run.html",
            before=("torch.distributed.launch", "launch"),
        ),
        "wraps a model, averages gradients": Cell(
            ("DistributedDataParallel",),
            "The class torch.nn.parallel.DistributedDataParallel() builds on this functionality to provide synchronous "
            "distributed training as a wrapper around any PyTorch model.",
            f"{TORCH}/distributed.html",
            given=True,
        ),
        "backend for CPUs": Cell(
            ("gloo",),
            "Use the Gloo backend for distributed CPU training.",
            f"{TORCH}/distributed.html",
            given=True,
        ),
        "backend for NVIDIA GPUs": Cell(
            ("nccl",),
            "Use the NCCL or the XCCL backend for distributed GPU training",
            f"{TORCH}/distributed.html",
        ),
        "backend for Intel GPUs": Cell(
            ("xccl",),
            "Use the NCCL or the XCCL backend for distributed GPU training",
            f"{TORCH}/distributed.html",
        ),
        "backend only if torch was built with it": Cell(
            ("mpi", "ucc"),
            "MPI is an optional backend that can only be included if you build PyTorch from source.",
            f"{TORCH}/distributed.html",
        ),
    },
    "Lightning": {
        "class that runs the training": Cell(
            ("Trainer",),
            "Once you've organized your PyTorch code into a LightningModule, the Trainer automates everything else.",
            f"{LIGHTNING}/common/trainer.html",
            given=True,
        ),
        "its argument: how many machines": Cell(
            ("num_nodes",),
            "Number of GPU nodes for distributed training.",
            f"{LIGHTNING}/common/trainer.html",
        ),
        "its strategy on DistributedDataParallel": Cell(
            ("ddp",),
            "Regular (strategy='ddp')",
            f"{LIGHTNING}/accelerators/gpu_intermediate.html",
            beside=(
                ("DDPStrategy", "the class; the string that the trainer takes is wanted"),
                ("ddp_spawn", "not the regular one"),
                ("ddp_notebook", "not the regular one"),
            ),
        ),
    },
    "libraries below": {
        "today's name of MKL-DNN": Cell(
            ("oneDNN",),
            "The subsequent library name change to oneAPI Deep Neural Network Library (oneDNN) does not impact API, "
            "environment variables, or build options.",
            ONEDNN,
            before=("MKL-DNN", "MKLDNN", "DNNL"),
        ),
    },
}


class Place(NamedTuple):
    framework: str
    cell: str


def cells() -> Iterator[tuple[Place, Cell]]:
    """All cells, from the top."""
    return ((Place(framework, name), cell) for framework, rows in TABLE.items() for name, cell in rows.items())


def frameworks() -> dict[str, dict[str, str]]:
    """Today's names, by framework and by what the cell asks for."""
    return {framework: {name: cell.names[0] for name, cell in rows.items()} for framework, rows in TABLE.items()}


def then_and_now() -> Table:
    """The notes' names next to those of today's documentation."""
    rows = [
        ("CollectiveCommunication.RING and .NCCL", "CommunicationImplementation.RING, .NCCL and .AUTO",
         f"{TENSORFLOW}/experimental/CommunicationImplementation"),
        ("MKL-DNN", "oneDNN", ONEDNN),
        ("PyTorch Lightning, pytorch-lightning.readthedocs.io", "Lightning, lightning.ai/docs", LIGHTNING),
        ("use an efficient backend (e.g. NCCL)", "gloo, nccl, xccl; mpi if torch was built with it",
         f"{TORCH}/distributed.html"),
    ]  # fmt: skip
    return Table("Names that have moved", ("in a lecture of 2021", "today", "source"), rows)
