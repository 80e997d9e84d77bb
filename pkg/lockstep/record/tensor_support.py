"""Which tensors a collective takes, by layout and dtype: those that gloo or NCCL takes, and one sentence for the rest.

    sparse (COO)                  all_reduce with SUM
    other layouts, quantised      none
    conjugated or negated views   none: their memory holds other numbers
    complex                       SUM and AVG; no gather on gloo
    float8                        on NCCL
    int16, uint16, uint32, uint64 none
    PREMUL_SUM, AVG on gloo       no integers
    BAND, BOR, BXOR               integers and bool

Messages carry any dtype. ``tests/virtual/test_every_tensor.py`` compares all of it with gloo.
"""

from __future__ import annotations

import torch

from lockstep.deadlock_report import dtype_name

BITWISE = ("BAND", "BOR", "BXOR")
ON_COMPLEX = ("", "SUM", "AVG")
FLOAT8 = {dtype for name in dir(torch) if isinstance(dtype := getattr(torch, name), torch.dtype) and "float8" in name}
DTYPES = {
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
    torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool,
}  # fmt: skip


def unsupported(kind: str, tensor: torch.Tensor, reduction: str = "", backend: str = "gloo") -> str:
    """Why a collective does not take this tensor, and what to give it instead; "" if it does. ``reduction``: as in
    "SUM", or with a factor, "0.5·SUM"; "" where there is none, or it is unknown. Backends other than gloo and NCCL, as
    MPI, speak for themselves."""
    if backend not in ("gloo", "nccl"):
        return ""
    if tensor.layout is torch.sparse_coo:
        only = kind == "all_reduce" and reduction in ("", "SUM")
        return "" if only else f"{called(kind, reduction)} takes no sparse tensor: give it x.to_dense()"
    if tensor.layout is not torch.strided:
        return f"{kind} takes no tensor of layout {dtype_name(tensor.layout)}: give it x.to_dense()"
    if tensor.is_quantized:
        return f"{kind} takes no quantised tensor: give it x.int_repr()"
    if tensor.is_conj() or tensor.is_neg():
        resolve = "resolve_conj" if tensor.is_conj() else "resolve_neg"
        return f"{kind} takes no lazy view, whose memory holds other numbers: give it x.{resolve}()"
    return unsupported_dtype(kind, tensor.dtype, reduction, backend)


def unsupported_dtype(kind: str, dtype: torch.dtype, reduction: str, backend: str) -> str:
    what, name = called(kind, reduction), dtype_name(dtype)
    if dtype not in DTYPES and not (backend == "nccl" and dtype in FLOAT8):
        like = "x.float()" if dtype in FLOAT8 else "x.long()"
        return f"{what} takes no {name} on {backend}: give it {like if reduction else 'the bytes, x.view(torch.uint8)'}"
    if dtype.is_complex and (reduction not in ON_COMPLEX or (kind == "gather" and backend == "gloo")):
        return f"{what} takes no complex numbers: give it torch.view_as_real(x), if that is what you mean"
    if reduction in BITWISE and (dtype.is_floating_point or dtype.is_complex):
        return f"{what} takes integers and bool, and this is {name}"
    average = "·" in reduction or (reduction == "AVG" and backend == "gloo")
    if average and not (dtype.is_floating_point or dtype.is_complex):
        return f"{what} takes no {name}, since an average is a fraction: give it x.float(), or SUM, and divide"
    return ""


def called(kind: str, reduction: str) -> str:
    """ "all_reduce with MAX"."""
    name = "PREMUL_SUM" if "·" in reduction else reduction
    return f"{kind} with {name}" if name and name != "SUM" else kind


def memory_order(tensor: torch.Tensor) -> str:
    """How a dense tensor's dimensions lie in memory, the outermost first: "" for a contiguous one."""
    if tensor.layout is not torch.strided or tensor.is_contiguous():
        return ""
    outer_first = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    return f" that lie in memory by dimensions {', '.join(map(str, outer_first))}"
