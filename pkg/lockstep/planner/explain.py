"""Where a plan's seconds and bytes come from: each item, with its formula and the source of its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.planner import communication, memory
from lockstep.planner.answers import Answer
from lockstep.planner.plans import micro_batches
from lockstep.planner.step import Estimate


def explain(answer: Answer) -> str:
    """The best plan of ``answer`` in lines."""
    return "\n".join(_lines(answer, answer.found.best[0]))


def _lines(answer: Answer, found: Estimate) -> Iterator[str]:
    job, p, stack, cluster = answer.job, found.plan, answer.stack, answer.job.cluster
    m = micro_batches(job, p)
    yield f"A step of {found.step_time:.3g} s on each GPU of the last stage, with {m:,} micro-batches:"
    yield from _seconds(
        found,
        ("compute", found.computing, "kernel by kernel: matrix products by tiles, attention, passes over memory"),
        ("recomputation", found.recomputing, f"{p.recompute}: repeated before the backward pass"),
        ("waiting for hosts", found.host, f"kernels that the host launches too late ({stack.name})"),
        ("bubble", found.bubble, f"(p-1)/v of a micro-batch: p={p.pp}, v={p.vp} (arXiv:2104.04473, section 2.2)"),
        ("tensor parallel", found.communication["tp"], _where(answer, p.tp, 1)),
        ("context parallel", found.communication["cp"], _where(answer, p.cp, p.tp)),
        ("expert parallel", found.communication["ep"], _where(answer, p.ep, 1) + _dispatched(answer)),
        ("pipeline messages", found.communication["pp"], "to the next stage and back, in tp parts"),
        (
            "data parallel",
            found.communication["dp"],
            _where(answer, p.dp * p.cp, p.tp) + ", what compute does not hide",
        ),
        ("optimizer", found.optimizer, "Adam: its bytes by the memory's bandwidth"),
    )
    dense, experts = memory.parameters_of(job, p)
    yield ""
    yield (
        f"{found.memory / 1e9:,.1f} GB on the fullest GPU, which has {cluster.gpu.memory / 1e9:,.1f}, for "
        f"{(dense + experts) / 1e9:,.2f} billion parameters:"
    )
    for kind, nbytes in found.memory_by_kind.items():
        if nbytes:
            yield f"  {nbytes / 1e9:10.2f} GB  {kind}"
    gpu = cluster.gpu
    yield ""
    yield (
        f"{gpu.name}: {gpu.peak(job.precision) / 1e12:,.0f} TFLOP/s in {job.precision}; of the peak in bf16 "
        f"{100 * gpu.matmul:.0f} % were seen in a matrix product, and {100 * gpu.matmul * gpu.sustained:.0f} % are "
        f"taken to be reached in a step. Memory: {gpu.memory_bandwidth / 1e12:.2g} TB/s, "
        f"{100 * stack.memory:.0f} % reached."
    )
    yield (
        f"{cluster.name}: {cluster.domain} GPUs on NVLink of {cluster.inside / 1e9:,.0f} GB/s, "
        f"{100 * cluster.inside_share:.0f} % reached; between them {cluster.between / 1e9:.3g} GB/s a GPU, "
        f"{100 * cluster.between_share:.0f} % reached."
    )
    yield f"Stack {stack.name}: {stack.changes}. Calibrated on: {stack.calibrated}."
    yield "`lockstep bench plan` shows how far such predictions were off; docs/plan.md says what is not modelled."


def _dispatched(answer: Answer) -> str:
    if answer.job.dispatch == "bf16":
        return ""
    each = communication.DISPATCHED[answer.job.dispatch]
    return f", {each:.3g} bytes of a number to the experts, {communication.COMBINED:.0f} back (arXiv:2412.19437, 3.3.3)"


def _where(answer: Answer, size: int, stride: int) -> str:
    if size == 1:
        return "none"
    inside, domains = communication.levels(answer.job.cluster, size, stride)
    return f"groups of {size}, " + (
        f"{inside} on one NVLink" if domains == 1 else f"{inside} on each of {domains} NVLinks"
    )


def _seconds(found: Estimate, *items: tuple[str, float, str]) -> Iterator[str]:
    for name, seconds, told in items:
        if seconds > 0:
            yield f"  {seconds:9.4f} s {100 * seconds / found.step_time:5.1f} %  {name}: {told}"
