"""Every way to communicate × every kind of tensor or object, as programs of three ranks; the same on gloo's processes.

``outcomes_on_gloo()``, ``outcomes_here()``: by case what each rank has at the end, or the error that it got.
"""

from __future__ import annotations

import json
import multiprocessing
import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import distributed_c10d

from lockstep import run
from lockstep.errors import RunError

RANKS, ROOT, NUMBERS = 3, 1, 6
PATIENCE = 30.0  # seconds for one case on gloo
FLOATS = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
WHOLE = ("int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool")
COMPLEX = ("complex64", "complex128")
REDUCTIONS = ("AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
REDUCED = ("float32", "float16", "int32", "uint8", "bool", "complex64", "sparse COO")


class Case(NamedTuple):
    way: str  # of communicating
    kind: str  # of tensor
    reduction: str = "SUM"

    def __str__(self) -> str:
        return " · ".join(self)


# ---- kinds of tensors: what rank r has


def of_dtype(name: str) -> Callable[[int], Tensor]:
    def make(r: int) -> Tensor:
        numbers = (r + 1) * (torch.arange(NUMBERS) + 1)
        dtype = getattr(torch, name)
        return numbers.float().to(dtype) if name.startswith(("float8", "uint")) else (numbers % 5).to(dtype)

    return make


plain = of_dtype("float32")


def image(r: int, layout: torch.memory_format = torch.channels_last) -> Tensor:
    return plain(r).reshape(1, 2, 3, 1).contiguous(memory_format=layout)


def sparse(r: int) -> Tensor:
    x = plain(r)
    x[r::2] = 0  # each rank has other indices
    return x.to_sparse()


KINDS: dict[str, Callable[[int], Tensor]] = {name: of_dtype(name) for name in (*FLOATS, *WHOLE, *COMPLEX)} | {
    "empty": lambda r: torch.empty(0),
    "with a gradient": lambda r: plain(r).requires_grad_(),
    "transposed": lambda r: plain(r).reshape(2, 3).t(),
    "channels_last": image,
    "channels_last on rank 0": lambda r: image(r, torch.contiguous_format if r else torch.channels_last),
    "another shape on rank 0": lambda r: plain(r).reshape(2, 3) if r else plain(r).reshape(3, 2),
    "flat on rank 0": lambda r: plain(r).reshape(2, 3) if r else plain(r),
    "a column": lambda r: torch.stack([plain(r)] * 2, 1)[:, 0],
    "expanded": lambda r: torch.full((1,), 1.0 + r).expand(NUMBERS),
    "conjugate": lambda r: torch.complex(plain(r), plain(r)).conj(),
    "negated": lambda r: torch.complex(plain(r), plain(r)).conj().imag,
    "sparse COO": sparse,
    "sparse CSR": lambda r: plain(r).reshape(2, 3).to_sparse_csr(),
    "quantised": lambda r: torch.quantize_per_tensor(plain(r), 0.5, 0, torch.quint8),
}


# ---- ways to communicate: each returns what the rank has at the end


def root_only(value: Any) -> Any:
    return value if dist.get_rank() == ROOT else None


def like(x: Tensor) -> Tensor:
    return torch.empty_like(x, requires_grad=False) if x.is_quantized else torch.zeros_like(x, requires_grad=False)


def all_reduce(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_reduce(x, op, group=group)
    return x


def all_reduce_async(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_reduce(x, op, group=group, async_op=True).wait()
    return x


def reduce(x: Tensor, group: Any, op: Any) -> Any:
    dist.reduce(x, ROOT, op, group=group)
    return root_only(x)


def broadcast(x: Tensor, group: Any, op: Any) -> Any:
    dist.broadcast(x, ROOT, group=group)
    return x


def scatter(x: Tensor, group: Any, op: Any) -> Any:
    dist.scatter(y := like(x), root_only([x.detach() for _ in range(RANKS)]), src=ROOT, group=group)
    return y


def gather(x: Tensor, group: Any, op: Any) -> Any:
    dist.gather(x, ys := root_only([like(x) for _ in range(RANKS)]), dst=ROOT, group=group)
    return ys


def all_gather(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_gather(ys := [like(x) for _ in range(RANKS)], x, group=group)
    return ys


def all_gather_single(x: Tensor, group: Any, op: Any) -> Any:
    y = torch.empty((RANKS * x.shape[0], *x.shape[1:]), dtype=x.dtype)
    dist.all_gather_into_tensor(y, x, group=group)
    return y


def reduce_scatter(x: Tensor, group: Any, op: Any) -> Any:
    dist.reduce_scatter(y := like(x), [x.detach() for _ in range(RANKS)], op, group=group)
    return y


def reduce_scatter_single(x: Tensor, group: Any, op: Any) -> Any:
    dist.reduce_scatter_tensor(y := like(x), torch.cat([x.detach()] * RANKS), op, group=group)
    return y


def all_to_all(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_to_all(ys := [like(x) for _ in range(RANKS)], [x.detach() for _ in range(RANKS)], group=group)
    return ys


def all_to_all_single(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_to_all_single(y := like(whole := torch.cat([x.detach()] * RANKS)), whole, group=group)
    return y


def send_and_recv(x: Tensor, group: Any, op: Any) -> Any:
    if dist.get_rank() == 0:
        dist.send(x, 1, group=group)
    elif dist.get_rank() == 1:
        dist.recv(y := like(x), 0, group=group)
        return y
    return None


def isend_and_irecv(x: Tensor, group: Any, op: Any) -> Any:
    me, y = dist.get_rank(), like(x)
    for work in dist.isend(x, (me + 1) % RANKS, group=group), dist.irecv(y, (me - 1) % RANKS, group=group):
        work.wait()
    return y


def batch_isend_irecv(x: Tensor, group: Any, op: Any) -> Any:
    me, y = dist.get_rank(), like(x)
    sends = dist.P2POp(dist.isend, x, (me + 1) % RANKS, group), dist.P2POp(dist.irecv, y, (me - 1) % RANKS, group)
    for work in dist.batch_isend_irecv(list(sends)):
        work.wait()
    return y


def all_reduce_coalesced(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_reduce_coalesced(xs := [x, x.detach().clone()], op, group=group)
    return xs


def all_gather_coalesced(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_gather_coalesced(ys := [[like(x), like(x)] for _ in range(RANKS)], [x, x.detach().clone()], group=group)
    return ys


def coalescing_manager(x: Tensor, group: Any, op: Any) -> Any:
    """Several all-reduces become one, and show when the manager's work is waited for."""
    xs = [x, x.detach().clone()]
    with distributed_c10d._coalescing_manager(group=group, async_ops=True) as works:
        for each in xs:
            dist.all_reduce(each, op, group=group)
    works.wait()
    return xs


def premultiplied(x: Tensor, group: Any, op: Any) -> Any:
    dist.all_reduce(x, dist._make_nccl_premul_sum(0.5), group=group)
    return x


WAYS = {
    way.__name__: way
    for way in (
        all_reduce, all_reduce_async, reduce, broadcast, scatter, gather, all_gather, all_gather_single, reduce_scatter,
        reduce_scatter_single, all_to_all, all_to_all_single, send_and_recv, isend_and_irecv, batch_isend_irecv,
        all_reduce_coalesced, all_gather_coalesced, coalescing_manager, premultiplied,
    )
}  # fmt: skip
REDUCING = ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_single")


# ---- objects, and ways to communicate them


class Named(NamedTuple):
    name: str
    values: list[int]


OBJECTS: dict[str, Callable[[int], Any]] = {
    "None on rank 0": lambda r: r or None,
    "a dict, longer on each rank": lambda r: {"rank": r, "text": "é" * 10**r},
    "a list of tensors": lambda r: [plain(r), sparse(r), torch.tensor(r, dtype=torch.bfloat16)],
    "an instance of a class": lambda r: Named("rank", [r]),
    "a function": lambda r: json.dumps,
    "1 MB of bytes": lambda r: bytes([r]) * 2**20,
    "a lambda, which no pickle holds": lambda r: lambda: r,
}


def all_gather_object(x: Any, group: Any, op: Any) -> Any:
    dist.all_gather_object(ys := [None] * RANKS, x, group=group)
    return ys


def gather_object(x: Any, group: Any, op: Any) -> Any:
    dist.gather_object(x, ys := root_only([None] * RANKS), dst=ROOT, group=group)
    return ys


def broadcast_object_list(x: Any, group: Any, op: Any) -> Any:
    dist.broadcast_object_list(xs := [x, 1], src=ROOT, group=group)
    return xs


def scatter_object_list(x: Any, group: Any, op: Any) -> Any:
    dist.scatter_object_list(ys := [None], root_only([x] * RANKS), src=ROOT, group=group)
    return ys


def send_object_list(x: Any, group: Any, op: Any) -> Any:
    if dist.get_rank() == 0:
        dist.send_object_list([x, 1], dst=1, group=group)
    elif dist.get_rank() == 1:
        dist.recv_object_list(ys := [None, None], src=0, group=group)
        return ys
    return None


OBJECT_WAYS = {
    way.__name__: way
    for way in (all_gather_object, gather_object, broadcast_object_list, scatter_object_list, send_object_list)
}


def cases() -> list[Case]:
    found = [Case(way, kind) for way in WAYS for kind in KINDS]
    found += [Case(way, kind) for way in OBJECT_WAYS for kind in OBJECTS]
    return found + [Case(way, kind, op) for way in REDUCING for op in REDUCTIONS for kind in REDUCED]


# ---- what comes of a case, as plain data


def outcome(case: Case, group: Any = None) -> list[Any]:
    """What this rank has at the end: ["has", …]; or ["error", its type, its message]."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = (KINDS | OBJECTS)[case.kind](dist.get_rank())
            communicate: Any = (WAYS | OBJECT_WAYS)[case.way]
            return ["has", plain_data(communicate(x, group, getattr(dist.ReduceOp, case.reduction)))]
    except RunError:
        raise
    except Exception as error:
        return ["error", type(error).__name__, str(error).splitlines()[0]]


def plain_data(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return (
            [plain_data(v) for v in value] if isinstance(value, list) else getattr(value, "__qualname__", repr(value))
        )
    dense = value.detach().dequantize() if value.is_quantized else value.detach()
    dense = dense.to_dense() if dense.layout is not torch.strided else dense
    numbers = dense.resolve_conj() if dense.is_complex() else dense.double()
    return [str(value.layout), str(value.dtype), list(value.shape), [str(n + 0) for n in numbers.flatten().tolist()]]


def outcomes_here(wanted: list[Case]) -> dict[Case, list[Any]]:
    """On the virtual cluster: the cases of each kind in one run; one by one, where one of them ends the run."""
    found: dict[Case, list[Any]] = {}
    for kind in KINDS | OBJECTS:
        together = [case for case in wanted if case.kind == kind]
        try:
            found |= _in_one_run(together)
        except RunError:
            for case in together:
                try:
                    found |= _in_one_run([case])
                except RunError as error:
                    found[case] = [["error", type(error).__name__, error.message]] * RANKS
    return found


def _in_one_run(together: list[Case]) -> dict[Case, list[Any]]:
    by_rank = run(_each, together, ranks=RANKS, on="dgx-a100").values
    return dict(zip(together, map(list, zip(*by_rank, strict=True)), strict=True))


def _each(together: list[Case]) -> list[Any]:
    return [outcome(case) for case in together]


def outcomes_on_gloo(wanted: list[Case], folder: Path) -> dict[Case, list[Any]]:
    """In processes of their own, with torch's own backend and nothing of this package between. A case in which a
    process ends, or all wait for ever, has "ended" or "hung" as its outcome; the next ones begin with new processes."""
    context, found, left = multiprocessing.get_context("fork"), dict[Case, list[Any]](), wanted
    while left:
        files = [folder / f"{len(left)}-{r}.jsonl" for r in range(RANKS)]
        store = folder / f"store-{len(left)}"
        ranks = [context.Process(target=_gloo_rank, args=(r, left, store, files[r]), daemon=True) for r in range(RANKS)]
        for rank in ranks:
            rank.start()
        how = _watched(ranks, files)
        for rank in ranks:
            rank.kill()
            rank.join()
        told = [list(map(json.loads, file.read_text().splitlines())) for file in files]
        over = min(map(len, told))
        found |= {case: [told[r][at] for r in range(RANKS)] for at, case in enumerate(left[:over])}
        if over < len(left):
            found[left[over]] = [["error", how, ""]] * RANKS
        left = left[over + 1 :]
    return found


def _gloo_rank(rank: int, wanted: list[Case], store: Path, file: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(str(store), RANKS), rank=rank, world_size=RANKS)
    with file.open("w") as told:
        for case in wanted:
            group = dist.new_group(
                timeout=timedelta(seconds=PATIENCE / 3)
            )  # what failed may leave another one unusable
            told.write(json.dumps(outcome(case, group)) + "\n")
            told.flush()


def _watched(ranks: list[Any], files: list[Path]) -> str:
    """Wait until all ranks are through ("done"), one has "ended" early, or nothing has happened for long ("hung")."""
    size, since = -1, time.monotonic()
    while time.monotonic() - since < PATIENCE:
        time.sleep(0.05)
        now = sum(file.stat().st_size for file in files if file.exists())
        if now != size:
            size, since = now, time.monotonic()
        if any(rank.exitcode for rank in ranks):
            return "ended"
        if all(rank.exitcode == 0 for rank in ranks):
            return "done"
    return "hung"
