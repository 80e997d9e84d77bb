"""Statements on bottlenecks in the lecture notes, quoted, with our counts and the reasons."""

from __future__ import annotations

from lockstep.bottlenecks import loops
from lockstep.experiments.bottlenecks.loading import IMAGE
from lockstep.experiments.bottlenecks.roofs import a100, steps
from lockstep.tables import Table
from lockstep.tally import counted

Row = tuple[str, str, str]


def corrections_table() -> Table:
    """The statements, one by one, each beside our count."""
    made = (_files, _storage, _preprocessing, _communication, _servers, _light, _libraries)
    rows = [make() for make in counted(made, "Counting", each=0.4)]
    return Table("Common claims about bottlenecks", ["a common claim", "we count", "why"], rows)


def _files() -> Row:
    found = loops.small_files()
    return (
        "“don’t read many small files, pack samples together into a few large files”",
        f"opens a sample: {found.sick:g}, packed {found.cured:.3f}",
        "Right. The count carries over to any storage; the seconds saved on a local disk don’t.",
    )


def _storage() -> Row:
    found = loops.scattered_reads()
    return (
        "“Large datasets exceed DRAM capacity … massively parallel storage systems”",
        f"seeks a sample: {found.sick:.2f} shuffled, {found.cured:g} in order; 2,500 samples/s of {IMAGE / 1e3:g} kB "
        f"are {2500 * IMAGE / 1e6:.0f} MB/s",
        "Right where many jobs read at once. One GPU’s images need none, if shards are read from end to end.",
    )


def _preprocessing() -> Row:
    host, once = loops.preprocessing_on_host(), loops.preprocessing()
    return (
        "“offloading preprocessing to GPUs”",
        f"{host.ratio:.2f} times as fast; decoded once before: {once.cured:g} decodes in training",
        "Right where the host decodes longer than a step takes. What is the same in each epoch can be done before.",
    )


def _communication() -> Row:
    many, few, *_ = steps()
    return (
        "“Communication. Usually the key bottleneck”",
        f"{many.name}: {many.bound(a100())}; on 2,048: {few.bound(a100())}",
        "Right for few tokens a step. Gradients are as large for many, and computing grows with them.",
    )


def _servers() -> Row:
    found = loops.tiny_all_reduces(on=loops.CLUSTER)
    return (
        "“Don’t use parameter servers. Use NCCL”",
        f"all-reduces for 64 gradients: {found.sick:g}, in buckets {found.cured:g}",
        "Right. NCCL sends what it is told to: tiny messages stay tiny.",
    )


def _light() -> Row:
    found = loops.light()
    return (
        "“Don’t try to parallelize very light workloads – communication overhead too large”",
        f"{found.sick:.1f} waits of the process a task, alone {found.cured:.2g}; {found.ratio:.0f} times as long",
        "Right. It is so without any network: handing a task to a thread takes longer than the task.",
    )


def _libraries() -> Row:
    found = loops.memory_traffic()
    return (
        "“High level frameworks use optimized low level libraries (cuDNN, MKL-DNN)”",
        f"bytes moved for an element of a GELU: {found.sick:g}, fused {found.cured:g}",
        "Right of each operation. Nine of them in a row move the array again and again. MKL-DNN is now oneDNN.",
    )
