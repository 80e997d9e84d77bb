"""The software is part of the plan: what a stack of kernels does for a layer, as far as its time depends on it.

    megatron-2019   Megatron-LM before its fused kernels: every pointwise operation reads and writes memory
    megatron-2021   Megatron-LM of SC21: fused pointwise kernels, but attention writes its scores to memory. Gradients
                    are summed after the backward pass.
    megatron-2022   that of Korthikanti et al.: a weight's gradient is added up within its matrix product, and the
                    backward pass's all-reduces run beside it
    fused           the same with flash attention, and gradients that are summed beside the backward pass
    eager           torch's own modules under FSDP2, one kernel an operation, and flash attention
    compiled        the same under ``torch.compile``: pointwise operations are fused
    bridge-25       Megatron-Bridge (NeMo) up to release 26.04: Transformer Engine's fused kernels in 8 and 4 bits; the
                    host launches every expert's kernels, once it knows their tokens
    bridge-26.06    from release 26.06 on: experts in fused grouped kernels, under CUDA graphs

Each constant says what it is; ``calibrated`` says on which table it was set, and those that come from elsewhere have
their source at the name. Nothing is set for a model, a plan or a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from lockstep.errors import UsageError
from lockstep.planner.clusters import Cluster
from lockstep.planner.hashed_once import hashed_once
from lockstep.planner.models import guess


@hashed_once
@dataclass(frozen=True)
class Stack:
    """What the software reaches of the hardware, and what it does that other software does not."""

    name: str
    changes: str  # in a sentence
    calibrated: str  # the table
    flash: bool  # attention keeps no scores in memory
    fused: bool  # norm, residual and rotation are one pass each; else several
    attention: float = 0.82  # share of a matrix product's rate that flash attention reaches, forward
    attention_back: float = 0.78  # and backward
    memory: float = 0.85  # share of the memory's bandwidth that pointwise kernels reach
    gap: float = 4e-6  # seconds in which a kernel starts and ends, and those between two (``machines``: 4 µs)
    host: float = 8e-6  # seconds of the host for each kernel that it launches
    graphs: bool = False  # a CUDA graph of the whole step on superchips (GB200, GB300): the host launches nothing there
    gradient_bytes: int = 4  # of a gradient, as it is summed
    gradients_fused: bool = True  # a weight's gradient is added up in the matrix product that computes it
    overlap_data: float = 0.9  # share of the sum of gradients that can be hidden behind the backward pass
    ampere_attention: bool = False  # FlashAttention-2, written for the A100, also on later GPUs
    low_attention: bool = False  # in 8 bits on GPUs whose exponentials keep up (B300, GB300), beside products in MXFP8
    recomputed_matmul: float = 0.0  # share of the matrix products that "selective" recomputes
    overlap_tensor: float = 0.0  # of the tensor-parallel collectives, behind matrix products
    # Of the time that a transfer is hidden, by how much it slows down what it runs beside. Estimate: NCCL's kernels
    # take 16 to 24 of 108 or 132 multiprocessors, and memory bandwidth.
    contention: float = 0.3
    scattered: bool = True  # a message between stages is sent in tp parts (arXiv:2104.04473, section 4.1)
    overlap_pipeline: bool = False  # messages between stages go beside compute
    overlap_experts: float = 0.0  # of the tokens' way to their experts and back
    logit_bytes: int = 10  # that are kept of a logit at once: 16 bits, and 32 for the loss and for its gradient
    offloads: bool = False  # activations go to the host's memory where a superchip has a fast link to it
    moment_bytes: int = 4  # of each of Adam's two moments
    clamped_fused: bool = True  # experts with biases and a clamped activation have a kernel of their own
    # Seconds of a layer with experts that a GPU waits for its host, which must know how many tokens each expert gets;
    # and so many more for each expert on the GPU.
    expert_host: float = 0.0
    expert_host_each: float = 0.0
    expert_kernels: tuple[float, float] = (350.0, 45.0)  # that it launches for a layer, and for each expert; estimate
    expert_matmul: float = 0.9  # share of a matrix product's rate that many small ones at a time reach
    expert_passes: float = 8.0  # how often permuted tokens are read or written on their way, forward
    expert_wire: float = 0.8  # share of the link's reached rate in an all-to-all
    network: float = 1.0  # share of the reached network bandwidth in the sums of a whole run
    sharded_weights: bool = False  # FSDP: weights live in float32 shards, without another copy
    zero: int = 1  # what such runs do about the optimizer unless the plan says otherwise


_MEGATRON_2021 = Stack(
    "megatron-2021",
    "attention writes its scores; gradients are summed after the backward pass",
    "megatron_sc21_table1",
    flash=False,
    fused=True,
    gradient_bytes=2,
    gradients_fused=False,
    overlap_data=0.0,
    network=0.35,
    zero=0,
)
_MEGATRON_2022 = replace(
    _MEGATRON_2021,
    name="megatron-2022",
    changes="weights' gradients are summed within their products; backward all-reduces run beside them",
    calibrated="korthikanti_table3_5, korthikanti_table4",
    gradients_fused=True,
    overlap_tensor=0.25,
)
_MEGATRON_2019 = replace(
    _MEGATRON_2021,
    name="megatron-2019",
    changes="every pointwise operation is a kernel of its own",
    calibrated="none: megatron-2021 without fused kernels",
    fused=False,
)
_FUSED = replace(
    _MEGATRON_2022,
    name="fused",
    changes="flash attention; gradients are summed beside the backward pass",
    calibrated="none: megatron-2021 with flash attention",
    flash=True,
    gradient_bytes=4,
    gradients_fused=True,
    overlap_data=0.9,
    overlap_pipeline=True,
    network=1.0,
    zero=1,
)
_COMPILED = replace(
    _FUSED,
    name="compiled",
    changes="torch.compile fuses pointwise operations; FSDP2 shards weights, gradients and optimizer",
    calibrated="none: fused, with FSDP2's sharding",
    ampere_attention=True,
    recomputed_matmul=0.5,
    logit_bytes=14,
    overlap_tensor=0.0,
    sharded_weights=True,
    zero=3,
)
_EAGER = replace(
    _COMPILED,
    name="eager",
    changes="one kernel an operation; FSDP2 shards weights, gradients and optimizer",
    calibrated="none: compiled, with every pointwise operation a pass of its own",
    fused=False,
)
_BRIDGE_25 = replace(
    _FUSED,
    name="bridge-25",
    changes="Transformer Engine's kernels; each expert's are launched by the host, and its activation is not fused",
    calibrated="megatron_bridge_performance, releases 25.11 and 26.04, H100, B200, B300, GB200, without Qwen3 30B-A3B",
    overlap_data=0.3,
    overlap_tensor=0.75,
    logit_bytes=4,
    moment_bytes=2,
    offloads=True,
    clamped_fused=False,
    expert_host=1.1e-3,
    expert_host_each=0.145e-3,
    expert_matmul=0.9,
    expert_wire=0.95,
)
_BRIDGE_26 = replace(
    _BRIDGE_25,
    name="bridge-26.06",
    changes="experts in fused grouped kernels under CUDA graphs",
    calibrated="megatron_bridge_performance, release 26.06, B300, GB200, without Qwen3 30B-A3B",
    graphs=True,
    low_attention=True,
    clamped_fused=True,
    overlap_experts=0.3,
    expert_matmul=0.85,
    expert_passes=6.0,
)
STACKS: Mapping[str, Stack] = MappingProxyType(
    {
        s.name: s
        for s in (_MEGATRON_2019, _MEGATRON_2021, _MEGATRON_2022, _FUSED, _EAGER, _COMPILED, _BRIDGE_25, _BRIDGE_26)
    }
)

ASYNC_TENSOR = 0.5  # share of the tensor-parallel collectives that asynchronous tensor parallelism hides; estimate

# What a precision reaches of its own peak, beside what bfloat16 reaches of its: the same for FP8, which nobody
# measured; MXFP8 and NVFP4 calibrated on LLaMA-3's rows of megatron_bridge_performance, of the stated releases. And the
# bytes that move for each number that is brought into it (read in 16 bits, written in both layouts; scaled by the
# largest); estimate.
MATMUL_OF: Mapping[str, float] = MappingProxyType({"bf16": 1.0, "fp8": 1.0, "mxfp8": 1.05, "nvfp4": 0.80})
CAST_BYTES: Mapping[str, float] = MappingProxyType({"bf16": 0.0, "fp8": 6.0, "mxfp8": 4.5, "nvfp4": 8.0})


def find(name: str | None, cluster: Cluster) -> Stack:
    """The stack of that name; None: today's for these GPUs, fused kernels with flash attention. Raises UsageError."""
    if name is None:
        return STACKS["bridge-26.06"] if cluster.gpu.fp8 else STACKS["fused"]
    if name.strip().lower() in STACKS:
        return STACKS[name.strip().lower()]
    raise UsageError(f"There is no stack named {name!r}.{guess(name, STACKS)}", f"The stacks are {', '.join(STACKS)}.")
