"""What a span of a foreign trace is: computing, copying, communicating. Told by the categories that kineto gives and by
the names that NCCL's kernels and torch's annotations have.

    kernel, cpu_op                       compute
    gpu_memcpy, gpu_memset               copy
    cuda_runtime, c10d::allreduce_       call: something is asked for that happens elsewhere
    ncclDevKernel_AllReduce_Sum_f32…     all_reduce, on a GPU's stream
    nccl:all_reduce, gloo:all_reduce     all_reduce, as torch says it
    user_annotation, python_function     annotation, python: they cover what happens in them

A collective of NCCL may be told three times: on the CPU that asks for it, around its kernel, and by the kernel. The
best source counts; the others are annotations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

COMPUTE, COPY, CALL, ANNOTATION, PYTHON = "compute", "copy", "call", "annotation", "python"
OTHER = (COMPUTE, COPY, CALL, ANNOTATION, PYTHON)
COVERS = (ANNOTATION, PYTHON)  # spans in which others happen
MESSAGES, SOME = "send and recv", "collective"  # of a kernel that does not say which

BY_CATEGORY = {
    "gpu_memcpy": COPY, "gpu_memset": COPY, "memcpy": COPY, "memset": COPY,
    "cuda_runtime": CALL, "cuda_driver": CALL, "runtime": CALL, "mtia_runtime": CALL, "xpu_runtime": CALL,
    "privateuse1_runtime": CALL, "cuda_sync": CALL,
    "user_annotation": ANNOTATION, "gpu_user_annotation": ANNOTATION, "trace": ANNOTATION, "python_function": PYTHON,
}  # fmt: skip
ON_A_STREAM = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events")

KERNEL = re.compile(r"nccl(?:Dev)?Kernel_([A-Za-z0-9]+)")
ANNOTATED = re.compile(r"(gloo|nccl|rccl|mpi|ucc|xccl|hccl):([\w ]+)")
POSTED = re.compile(r"c10d::|_c10d_functional::|record_param_comms")
# By the letters of a name, the first that it contains.
COLLECTIVES = (
    ("allreduce", "all_reduce"), ("reducescatter", "reduce_scatter"), ("allgather", "all_gather"),
    ("alltoall", "all_to_all"), ("broadcast", "broadcast"), ("sendrecv", MESSAGES), ("barrier", "barrier"),
    ("gather", "gather"), ("scatter", "scatter"), ("reduce", "reduce"), ("send", "send"), ("recv", "recv"),
)  # fmt: skip
BYTES = {
    "double": 8, "float": 4, "half": 2, "bfloat16": 2, "long": 8, "long int": 8, "int": 4, "short": 2, "char": 1,
    "byte": 1, "bool": 1, "unsigned char": 1, "signed char": 1, "c10::bfloat16": 2, "c10::half": 2,
    "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip

BY_KERNEL, ON_GPU, ON_CPU = 3, 2, 1  # how good a source is


def kind_of(category: str, name: str, args: Mapping[str, Any]) -> tuple[str, int]:
    """The kind, and if it communicates how good a source that is, otherwise 0."""
    category = category.lower()
    if "nccl" in name and (kernel := KERNEL.search(name)):
        said = args.get("Collective name")
        return collective(said if isinstance(said, str) else kernel[1]), BY_KERNEL
    if annotated := ANNOTATED.match(name):
        alone = annotated[1] in ("gloo", "mpi")  # nothing else is told of it
        return collective(annotated[2]), BY_KERNEL if alone else ON_GPU if category.startswith("gpu") else ON_CPU
    if POSTED.match(name):
        return CALL, 0
    return BY_CATEGORY.get(category, COMPUTE), 0


def collective(name: str) -> str:
    """``_all_gather_base`` → ``all_gather``."""
    letters = re.sub("[^a-z]", "", name.lower())
    return next((kind for part, kind in COLLECTIVES if part in letters), SOME)


def payload(args: Mapping[str, Any]) -> int:
    """Bytes of a collective on this rank, the larger of input and output; 0 if the trace does not say."""
    elements = [args.get(f"{way} msg nelems") for way in ("In", "Out")]
    known = [n for n in elements if isinstance(n, int) and not isinstance(n, bool) and n >= 0]
    if known:
        return max(known) * BYTES.get(str(args.get("dtype")).lower(), 0)
    shapes, types = args.get("Input Dims"), args.get("Input type")
    if not (isinstance(shapes, list) and isinstance(types, list)):
        return 0
    return sum(
        math.prod(shape) * BYTES.get(dtype.lower(), 0)
        for shape, dtype in zip(shapes, types, strict=False)
        if isinstance(dtype, str) and isinstance(shape, list) and len(shape) < 32 and all(map(_is_size, shape))
    )


def _is_size(n: Any) -> bool:
    return isinstance(n, int) and 0 <= n < 1 << 48
