"""What ``lockstep plan`` answers: its plans as data, with units and the planner's own error, and as a table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from lockstep.errors import UsageError
from lockstep.planner import plans
from lockstep.planner.clusters import PRECISIONS
from lockstep.planner.communication import DISPATCHED
from lockstep.planner.invoice import Invoice, invoice
from lockstep.planner.models import guess, whole
from lockstep.planner.plans import RECOMPUTE, Job, Plan
from lockstep.planner.search import Fixed, Found, fits, search
from lockstep.planner.stacks import Stack
from lockstep.planner.step import Estimate
from lockstep.tables import Table

# Of the published steps that did not calibrate, a tenth took less time, and a tenth more, than these times what was
# predicted (`lockstep bench plan` says how many lie within).
LOW_AND_HIGH: Mapping[str, tuple[float, float]] = {"dense": (0.92, 1.35), "mixture": (0.79, 1.17)}
DEFAULT_TOKENS = 2**22  # of a step without --batch: about 4 million, as GPT-3's 3.2 and Llama 3's 16 million
DECIDING = ("tp", "pp", "vp", "cp", "zero", "micro_batch", "recompute")


@dataclass(frozen=True)
class Answer:
    """The best plans of a job. ``seconds``: of the search."""

    job: Job
    stack: Stack
    found: Found
    seconds: float
    price: float | None = None
    invoice: Invoice | None = None

    def to_json(self) -> dict[str, Any]:
        data = {
            "model": self.job.model.name, "parameters": self.job.model.parameters, "cluster": self.job.cluster.name,
            "gpus": self.job.cluster.gpus, "batch": self.job.batch, "seq": self.job.model.seq,
            "precision": self.job.precision, "dispatch": self.job.dispatch, "stack": self.stack.name,
            "searched": self.found.searched, "seconds": self.seconds,
            "plans": [described(self.job, found, self.price) for found in self.found.best],
        }  # fmt: skip
        return data | ({"invoice": self.invoice.to_json()} if self.invoice else {})


def plan(
    job: Job,
    stack: Stack,
    fixed: Fixed | None = None,
    top: int = 5,
    tokens: float | None = None,
    days: float | None = None,
    price: float | None = None,
) -> Answer:
    """The ``top`` fastest plans of ``job`` that fit, with ``fixed`` axes. Raises UsageError if none is legal, or if
    none fits; a plan that is fixed altogether is told even if it does not."""
    begun = time.perf_counter()
    fixed = fixed or {}
    checked(job)
    found = search(job, stack, fixed, top)
    seconds = time.perf_counter() - begun
    if not found.fits and not all(axis in fixed for axis in DECIDING):
        least, has = found.best[0], job.cluster.gpu.memory
        raise UsageError(
            f"No plan fits: the leanest needs {least.memory / 1e9:,.0f} GB on a GPU that has {has / 1e9:,.0f} GB "
            f"({_short(least.plan)}).",
            "Take more GPUs, a smaller model, or less that is fixed.",
        )
    bill = None
    if tokens is not None or days is not None:
        rate = job.tokens / found.best[0].step_time
        bill = invoice(rate, job.cluster.gpus, job.model.parameters, tokens, days, price)
    return Answer(job, stack, found, seconds, price, bill)


def checked(job: Job) -> None:
    """Raises UsageError for a precision that there is not, or that these GPUs have not; and likewise for a dispatch."""
    if job.precision not in PRECISIONS:
        raise UsageError(
            f"There is no precision {job.precision!r}.{guess(job.precision, PRECISIONS)}",
            f"Choose among {', '.join(PRECISIONS)}.",
        )
    if not job.cluster.gpu.peak(job.precision):
        raise UsageError(
            f"{job.cluster.gpu.name} has no {job.precision.upper()}.",
            "Take bf16, or GPUs that have it: dgx-h100 has FP8, dgx-b200 FP8 and FP4.",
        )
    if job.dispatch not in DISPATCHED:
        raise UsageError(
            f"There is no dispatch {job.dispatch!r}.{guess(job.dispatch, tuple(DISPATCHED))}", "Choose bf16 or fp8."
        )
    if job.dispatch == "fp8" and not job.model.experts:
        raise UsageError("FP8 dispatch is of tokens on their way to experts, and this model has none.", "Leave it out.")
    if job.dispatch == "fp8" and not job.cluster.gpu.fp8:
        raise UsageError(f"{job.cluster.gpu.name} has no FP8.", "Leave out --dispatch, or take dgx-h100, say.")


def default_batch(gpus: int, seq: int) -> int:
    """Sequences of a step of about 4 million tokens: a multiple of ``gpus``; with more GPUs than that, of the copies
    that are left when a model is divided among as many as 64."""
    wanted = max(1, DEFAULT_TOKENS // seq)
    copies = gpus if wanted >= gpus else gpus // gcd(gpus, 64)
    return max(1, wanted // copies) * copies


def fixed_from(text: str) -> dict[str, int | str | bool]:
    """``tp=8,pp=8,recompute=full`` as a dict. Raises UsageError, with the nearest axis."""
    given: dict[str, int | str | bool] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        axis, _, value = (piece.strip() for piece in part.partition("="))
        if axis not in plans.AXES:
            raise UsageError(f"A plan has no {axis!r}.{guess(axis, plans.AXES)}", f"Fix {', '.join(plans.AXES)}.")
        if axis in given:
            raise UsageError(f"{axis} is fixed twice.", f"Say {axis} once.")
        given[axis] = _value(axis, value)
    return given


def _value(axis: str, value: str) -> int | str | bool:
    if axis == "recompute":
        if value not in RECOMPUTE:
            raise UsageError(f"recompute is {', '.join(RECOMPUTE)}, not {value!r}.", "Write recompute=selective.")
        return value
    if axis in ("sequence_parallel", "overlap"):
        yes_no = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.lower() not in yes_no:
            raise UsageError(f"{axis} is true or false, not {value!r}.", f"Write {axis}=true.")
        return yes_no[value.lower()]
    number = whole(axis, value, least=0 if axis == "zero" else 1)
    if axis == "zero" and number > 3:
        raise UsageError(f"ZeRO has the stages 0 to 3, not {number}.", "Write zero=1.")
    return number


def described(job: Job, found: Estimate, price: float | None) -> dict[str, Any]:
    """One plan as data: seconds, bytes, tokens a second of the whole cluster, shares from 0 to 1."""
    p, gpus = found.plan, job.cluster.gpus
    kind = "mixture" if job.model.experts else "dense"
    low, high = LOW_AND_HIGH[kind]
    rate = job.tokens / found.step_time
    flops = job.model.flops_per_token(job.model.seq) * rate / gpus
    peak = job.cluster.gpu.peak(job.precision)
    again = 1 + found.recomputing / max(found.computing, 1e-30)
    does = fits(job, found)
    return p._asdict() | {
        "step_time": found.step_time,
        "step_time_low": low * found.step_time,
        "step_time_high": high * found.step_time,
        "tokens_per_second": rate,
        "model_tflops_per_gpu": flops / 1e12,
        "mfu": flops / peak,
        "hfu": flops / peak * again,
        "memory": found.memory,
        "memory_by_kind": found.memory_by_kind,
        "bubble": found.bubble / found.step_time,
        "communication": found.communication,
        "cost_per_token": None if price is None else price * gpus / 3600 / rate,
        "fits": does,
        "reason": "" if does else _too_large(job, found),
    }


def _too_large(job: Job, found: Estimate) -> str:
    most = max(found.memory_by_kind, key=lambda kind: found.memory_by_kind[kind])
    return (
        f"It needs {found.memory / 1e9:,.0f} GB on a GPU that has {job.cluster.gpu.memory / 1e9:,.0f} GB; "
        f"{found.memory_by_kind[most] / 1e9:,.0f} GB of it are {most}."
    )


def _short(plan: Plan) -> str:
    axes = [f"{axis}={getattr(plan, axis)}" for axis in ("dp", "tp", "pp", "vp", "cp", "ep") if getattr(plan, axis) > 1]
    return ", ".join([*axes, f"zero={plan.zero}", f"micro_batch={plan.micro_batch}", f"recompute={plan.recompute}"])


def table(answer: Answer) -> Table:
    """The plans, one a row."""
    job = answer.job
    rows = []
    for found in answer.found.best:
        told = described(job, found, answer.price)
        p = found.plan
        rows.append(
            [
                *(str(getattr(p, axis)) for axis in ("dp", "tp", "pp", "vp", "cp", "ep", "zero")),
                str(p.micro_batch),
                p.recompute,
                f"{told['step_time']:.3g} s",
                f"{told['step_time_low']:.3g} to {told['step_time_high']:.3g}",
                f"{told['model_tflops_per_gpu']:,.0f}",
                f"{100 * told['mfu']:.0f} %",
                f"{told['memory'] / 1e9:,.0f} GB",
                f"{100 * told['bubble']:.0f} %",
                "yes" if told["fits"] else "no",
            ]
        )
    head = ["dp", "tp", "pp", "vp", "cp", "ep", "zero", "micro", "recompute", "step", "likely", "TFLOP/s", "MFU",
            "memory", "bubble", "fits"]  # fmt: skip
    caption = (
        f"{job.model.name}, {job.model.parameters / 1e9:,.1f} billion parameters, on {job.cluster.gpus:,} GPUs of "
        f"{job.cluster.name}: {job.batch:,} sequences of {job.model.seq:,} tokens, {job.precision}, "
        f"{'FP8 dispatch, ' if job.dispatch == 'fp8' else ''}"
        f"{answer.stack.name}. {answer.found.searched:,} plan{'' if answer.found.searched == 1 else 's'} in "
        f"{answer.seconds:.2f} s."
    )
    return Table(caption, head, rows)
