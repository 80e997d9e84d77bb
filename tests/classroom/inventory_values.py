"""What the reference of an exercise, or one of its known wrong answers, makes of a question of the inventory: the text
of a choice is compared with it. Programs that communicate run on the virtual cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from joblib import parallel_config

from lockstep import run
from lockstep.checks import find
from lockstep.checks.load import load

RIGHT = "right"


def program(exercise: str, name: str) -> Callable[..., Any]:
    """The reference for "right", else the function of ``wrong/NAME.py``."""
    found = find(exercise)
    if name != RIGHT:
        return load(found.wrong / f"{name}.py", found.function)
    module, _, function = found.reference.partition(":")
    return getattr(import_module(module), function)


def on_ranks(fn: Callable[..., Any], *each: Any) -> list[Any]:
    """The values of ``fn`` on as many ranks as there are tuples of arguments."""
    import torch.distributed as dist

    return run(lambda: fn(*each[dist.get_rank()]), ranks=len(each), on="virtual").values


def speedup(fn: Callable[..., Any], p: float, s: int) -> str:
    return f"{fn(p, s):.3g}"


def attainable(fn: Callable[..., Any], flops: float, nbytes: float, peak: float, bandwidth: float) -> str:
    """GFLOP/s of a device with this peak and bandwidth, in GFLOP/s and GB/s."""
    device = SimpleNamespace(peak=lambda dtype: peak * 1e9, memory_bandwidth=bandwidth * 1e9)
    return f"{fn(flops, nbytes, device)[0] / 1e9:.3g}"


def illness(fn: Callable[..., Any], **counts: int) -> str:
    return fn(counts)


def megabytes_sent(fn: Callable[..., Any], ranks: int, megabytes: float) -> str:
    """By one rank; they all send alike. A number of the tensor stands for as many bytes."""
    numbers = 60 * ranks
    result = run(lambda: fn(torch.ones(numbers)), ranks=ranks, on="virtual")
    sent = {rank: sum(e.nbytes for e in result.trace if e.rank == rank and e.kind == "send") for rank in range(ranks)}
    assert len(set(sent.values())) == 1
    return f"{megabytes * sent[0] / (4 * numbers):.3g}"


def mean_on_rank_0(fn: Callable[..., Any], rows: list[list[float]]) -> str:
    """The rows of each rank."""
    given = [(torch.tensor(own).reshape(-1, 1),) for own in rows]
    return f"{on_ranks(fn, *given)[0].item():.3g}"


def new_residual(fn: Callable[..., Any], gradient: list[float], residual: list[float], k: int) -> str:
    _mean, left = on_ranks(fn, (torch.tensor(gradient), torch.tensor(residual), k))[0]
    return str([int(number) for number in left.tolist()])


def megabytes_at_the_peak(fn: Callable[..., Any], sizes: list[int], ranks: int, stage: int) -> str:
    return f"{fn([n * 10**6 for n in sizes], ranks, stage) / 1e6:.3g}"


def forward_before_backward(fn: Callable[..., Any], stage: int, stages: int, micro_batches: int) -> str:
    passes = [kind for kind, _ in fn(stage, stages, micro_batches)]
    return str(passes.index("B"))


def gradient_of_bias(fn: Callable[..., Any], ranks: int, gradient: float) -> str:
    """On rank 1: of a loss whose gradients by the outputs add up to ``gradient``."""

    def backward(rank: int) -> float:
        x, B, b = torch.ones(1, 1), torch.ones(ranks, 1), torch.zeros(1, requires_grad=True)
        fn(x, B, b).backward(torch.full((1, 1), gradient))
        return 0.0 if b.grad is None else b.grad.item()

    return f"{on_ranks(backward, *[(rank,) for rank in range(ranks)])[1]:.3g}"


def milliseconds_of_experts(fn: Callable[..., Any], loads: list[list[int]], milliseconds: float) -> str:
    """Where messages cost nothing."""
    return f"{1e3 * fn(loads, 1, 0.0, 0.0, milliseconds / 1e3):.3g}"


def group_of_rank_0(fn: Callable[..., Any], ranks: int, sizes: list[int], axis: int) -> str:
    return ", ".join(map(str, fn(ranks, sizes)[axis][0]))


def weight_of_rank_0(
    fn: Callable[..., Any], steps: list[int], weights: list[float], gradients: list[float], rate: float
) -> str:
    """After a step of which nothing fails."""

    def step(rank: int) -> float:
        w, gradient = torch.tensor([weights[rank]]), torch.tensor([gradients[rank]])
        new, _steps = fn(w, lambda _w: gradient.clone(), rate, steps, torch.distributed.all_reduce, lambda well: well)
        return new.item()

    return f"{on_ranks(step, *[(rank,) for rank in range(len(steps))])[0]:.3g}"


def centre_of_rows(fn: Callable[..., Any], rows: list[list[float]]) -> str:
    """The rows of each worker, of one cluster. The workers' parts are equal: what lacks is of a cluster far away."""
    part, far = max(map(len, rows)), 1000.0
    X = [own + [far] * (part - len(own)) for own in rows]
    with parallel_config(backend="threading"):
        moved = fn(np.array(X).reshape(-1, 1), np.array([[rows[0][0]], [far]]), len(rows))
    return f"{moved[0, 0]:.3g}"


def rate_of_decode(fn: Callable[..., Any], flops: float, nbytes: float, peak: float, bandwidth: float) -> str:
    """GFLOP/s of that step, which reads two bytes a parameter, and computes two operations for each of T sequences."""
    parameters, sequences = round(nbytes / 2), round(flops / nbytes)
    seconds, _roof = fn(parameters, sequences, 1, 0, peak * 1e9, bandwidth * 1e9, 1.0)["decode"]
    return f"{flops / seconds / 1e9:.3g}"


VALUES: Mapping[str, Callable[..., str]] = {
    "why_parallel.amdahl": speedup,
    "cpu.roofline": attainable,
    "gpu.diagnose": illness,
    "communication.ring_all_reduce": megabytes_sent,
    "all_reduce_sgd.mend_mean_of_means": mean_on_rank_0,
    "without_waiting.topk_with_error_feedback": new_residual,
    "fsdp.predict_peak": megabytes_at_the_peak,
    "pipeline.one_f_one_b": forward_before_backward,
    "tensor_parallel.mend_bias_added_k_times": gradient_of_bias,
    "mixture_of_experts.step_time_of_loads": milliseconds_of_experts,
    "hybrid.make_grid": group_of_rank_0,
    "horovod.fault_tolerant_step": weight_of_rank_0,
    "scikit_learn.parallel_kmeans_step": centre_of_rows,
    "bottlenecks.five_steps_on_three_roofs": rate_of_decode,
}


def value(exercise: str, name: str, given: Any) -> str:
    """``given``: the arguments of the question, a list or a table of names."""
    fn = program(exercise, name)
    return VALUES[exercise](fn, **given) if isinstance(given, dict) else VALUES[exercise](fn, *given)
