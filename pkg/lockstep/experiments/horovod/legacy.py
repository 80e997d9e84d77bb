"""What Horovod gave the field, where that is found today, and what the lecture notes say about the frameworks."""

from __future__ import annotations

from lockstep.experiments.horovod import dialects
from lockstep.experiments.horovod.real_programs import LIGHTNING_DDP, TF_DISTRIBUTE
from lockstep.tables import Table
from lockstep.with_horovod import script

GAVE = (
    ("ring all-reduce for everybody (Baidu’s, of 2017, after Patarasuk and Yuan, 2009)",
     "NCCL and Gloo, in every framework", "arXiv:1802.05799, section 3"),
    ("one line round the optimizer", "DistributedDataParallel, one line round the model", "Li et al., VLDB 2020"),
    ("tensor fusion", "DDP’s buckets, of 25 MiB", "Li et al., VLDB 2020"),
    ("a timeline of what was summed when", "torch.profiler, Nsight Systems", "docs.pytorch.org"),
    ("elastic training (0.20, of 2020)", "in torch since 1.9; torchrun starts all workers anew, from your checkpoint",
     "pytorch.org/docs/1.9.0/elastic/run.html"),
)  # fmt: skip
LEFT = (
    ("its own project", "last release 0.28.1, June 2023", "github.com/horovod/horovod/releases"),
    ("Lightning", "HorovodStrategy deprecated and removed, December 2022",
     "Lightning-AI/pytorch-lightning, #16141, #16150"),
    ("Ray", "HorovodTrainer removed: hardly used, and Horovod no longer maintained",
     "ray-project/ray, #49454 (May 2025)"),
    ("Databricks", "deprecated; not installed any more after 15.4 LTS ML", "learn.microsoft.com/azure/databricks"),
)  # fmt: skip


def gave_table() -> Table:
    """What Horovod made popular, and where it is now."""
    return Table("What Horovod gave", ["Horovod", "today", "source"], [list(row) for row in GAVE])


def left_table() -> Table:
    """The projects that have dropped Horovod."""
    return Table("Who has left it", ["who", "what", "source"], [list(row) for row in LEFT])


def notes_table() -> Table:
    """The notes' list, whole and in their words; our count, by ``dialects.changed``; and why."""
    here = len(dialects.statements(script.serial))
    horovod, ddp = (dialects.changed(fn) for fn in (script.distribute, script.ddp))
    tensorflow, of_tensorflow = dialects.know_of_ranks(TF_DISTRIBUTE), len(dialects.program_lines(TF_DISTRIBUTE))
    trainer = dialects.know_of_ranks(LIGHTNING_DDP)
    rows = [
        ("TensorFlow's tf.distribute",
         "quite tricky to program. Lot's of code changes needed from serial to distributed",
         f"{tensorflow} of {of_tensorflow} lines of the program in section 7",
         "With fit, nearly as many as with Horovod. A training loop of your own needs more. And each machine "
         "needs a TF_CONFIG of its own."),
        ("TensorFlow + Horovod", "serial => distributed with minimal code changes", "not run",
         "The same six calls, from horovod.tensorflow."),
        ("PyTorch's torch.distributed", "(only a link)", f"{ddp} lines beside {here} serial ones",
         "Today’s usual way: DDP. Hardly more than Horovod’s."),
        ("PyTorch + Horovod", "serial => distributed with minimal code changes",
         f"{horovod} lines beside {here} serial ones",
         "Right: a longer script needs no more of them. But each one counts: section 1."),
        ("PyTorch Lightning", "hides a lot of boiler plate code … Very little changes needed between serial & parallel "
         "execution, especially on a SLURM cluster", f"{trainer} lines that know of ranks: the rate, and the Trainer",
         "Right: the rest is in the trainer, which knows SLURM’s variables."),
    ]  # fmt: skip
    head = ["", "a common claim", "we count", "why"]
    return Table("Frameworks for distributed learning", head, [list(row) for row in rows])
