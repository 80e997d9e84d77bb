"""Precision as an axis of a plan: bytes of a number change memory, messages and products, each by itself.

    gradients    weights in bfloat16, and their gradients summed in bfloat16 or in float32
    products     in bfloat16 or in 8 bits, from a copy of the weights that is cast for each
    dispatch     tokens on their way to experts, in bfloat16 or in 8 bits; they come back in bfloat16

By the planner for whole steps, and on the virtual cluster piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.distributed as dist

from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import simulate_step
from lockstep.planner import clusters, models, stacks
from lockstep.planner.answers import described
from lockstep.planner.communication import COMBINED, DISPATCHED
from lockstep.planner.plans import Job
from lockstep.planner.search import search
from lockstep.planner.step import Estimate
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

MODEL, CLUSTER, BATCH = "llama3-70b", "dgx-h100 x 16", 512
FIXED: dict[str, int | str | bool] = {
    "tp": 4,
    "pp": 4,
    "vp": 5,
    "cp": 1,
    "zero": 1,
    "micro_batch": 1,
    "recompute": "none",
}
WAYS = {  # name -> precision, bytes of a gradient as it is summed
    "bf16, gradients summed in float32": ("bf16", 4),
    "bf16, gradients summed in bf16": ("bf16", 2),
    "products in FP8, gradients in float32": ("fp8", 4),
}


def planned_table() -> Table:
    """One plan of a 70-billion model on 128 H100, in each way."""
    rows = []
    for name, (precision, nbytes) in WAYS.items():
        job = Job(models.find(MODEL, 8192), clusters.find(CLUSTER), BATCH, precision)
        found = search(job, replace(stacks.STACKS["fused"], gradient_bytes=nbytes), FIXED, top=1).best[0]
        told, kinds = described(job, found, None), found.memory_by_kind
        rows.append([
            name, f"{found.step_time:.2f} s", f"{found.communication['dp'] * 1e3:.0f} ms",
            f"{kinds['gradients'] / 1e9:.1f} GB",
            f"{kinds['activations'] / 1e9:.1f} GB", f"{found.memory / 1e9:.1f} GB", f"{100 * told['mfu']:.0f} %",
        ])  # fmt: skip
    head = ["", "step", "dp, exposed", "gradients", "activations", "memory", "MFU, of its own peak"]
    return Table("Llama 3 70B on 128 H100 by plan: tp 4, pp 4, dp 8, 512 sequences", head, rows)


class Piece(NamedTuple):
    """Seconds and bytes of one piece of a step, in 16 (or 32) bits and in fewer."""

    name: str
    many: str
    few: str
    seconds: tuple[float, float]
    nbytes: tuple[float, float]


RANKS, WIDTH, TOKENS, CHOICES = 16, 7168, 4096, 8
MIXTURE = GPTSize(2, WIDTH, 56, 1024, 1024, 0.0, "flash", "bfloat16", 64, CHOICES, 2048)
OF_DEEPSEEK: dict[str, int | str | bool] = {"tp": 2, "pp": 8, "vp": 4, "ep": 64}  # a user's: docs/plan.md


def piece(name: str) -> Piece:
    """On two simulated DGX H100: one of PIECES with both dtypes."""
    program, numbers, *dtypes = PIECES[name]
    times = [run(program, dtype, ranks=RANKS, on="dgx-h100", fake=True).time for dtype in dtypes]
    sizes = [float(numbers * dtype.itemsize) for dtype in dtypes]
    names = [str(dtype).removeprefix("torch.").partition("_")[0] for dtype in dtypes]
    return Piece(name, names[0], names[1], (times[0], times[1]), (sizes[0], sizes[1]))


def summed(dtype: torch.dtype) -> None:
    dist.all_reduce(torch.empty(12 * WIDTH * WIDTH, dtype=dtype))


def product_of(dtype: torch.dtype) -> None:
    """In 8 bits as torch does it: both operands with a scale, the result in bfloat16."""
    a, b = torch.empty(WIDTH, WIDTH, dtype=dtype), torch.empty(WIDTH, WIDTH, dtype=dtype)
    if dtype.itemsize == 1:
        one = torch.ones(())
        torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    else:
        a @ b


def dispatched(dtype: torch.dtype) -> None:
    """8-bit numbers travel as bytes: gloo's all-to-all, whose rules hold here, knows no other."""
    rows = torch.empty(TOKENS * CHOICES, WIDTH, dtype=dtype)
    rows = rows.view(torch.uint8) if dtype.itemsize == 1 else rows
    dist.all_to_all_single(torch.empty_like(rows), rows)


PIECES: Mapping[str, tuple[Callable[[torch.dtype], None], int, torch.dtype, torch.dtype]] = {  # and how many numbers
    "sum of a layer's gradients": (summed, 12 * WIDTH * WIDTH, torch.float32, torch.bfloat16),
    "a matrix product": (product_of, 2 * WIDTH * WIDTH, torch.bfloat16, torch.float8_e4m3fn),
    "dispatch of tokens to experts": (dispatched, TOKENS * CHOICES * WIDTH, torch.bfloat16, torch.float8_e4m3fn),
}


def dispatched_step(dispatch: str) -> tuple[Estimate, float]:
    """DeepSeek-V3 on 1,024 H100 by plan, with products in FP8; and seconds in which an average rank waits for experts
    in a simulated step of two layers of its width, ep 16, in two nodes."""
    job = Job(models.find("deepseek-v3", 4096), clusters.find("dgx-h100 x 128"), 8192, "fp8", dispatch)
    planned = search(job, stacks.STACKS["bridge-25"], OF_DEEPSEEK, top=1).best[0]
    model = replace(MIXTURE, dispatch="fp8" if dispatch == "fp8" else "dtype")
    return planned, simulate_step(model, Grid(dp=RANKS, ep=RANKS), on="dgx-h100").parts["ep"]


def dispatch_table() -> Table:
    rows = []
    for dispatch in counted(tuple(DISPATCHED), "Simulating", each=3.0):
        planned, waited = dispatched_step(dispatch)
        rows.append([
            f"{dispatch} to experts, bf16 back", f"{DISPATCHED[dispatch]:.2f} + {COMBINED:.0f}",
            f"{planned.communication['ep']:.1f} s", f"{planned.step_time:.1f} s", f"{waited * 1e3:.1f} ms",
        ])  # fmt: skip
    head = ["dispatch", "bytes of a number", "waiting for experts", "step", "simulated: waiting, two layers"]
    return Table("DeepSeek-V3 on 1,024 H100 by plan, products in FP8; and two layers simulated", head, rows)


def pieces_table() -> Table:
    rows = [
        [p.name, f"{p.many}: {p.seconds[0] * 1e3:.2f} ms", f"{p.few}: {p.seconds[1] * 1e3:.2f} ms",
         f"{p.nbytes[0] / 1e6:,.0f} MB", f"{p.nbytes[1] / 1e6:,.0f} MB"]
        for p in map(piece, counted(PIECES, "Simulating", each=1.5))
    ]  # fmt: skip
    head = ["piece", "in more bits", "in fewer bits", "bytes", "in fewer bits"]
    return Table("Piece by piece, on 16 simulated H100 in two nodes", head, rows)
