"""Traces of other programs: one of torch.profiler's, made here, and small ones as others write them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function

from lockstep.chrome_traces.findings import findings
from lockstep.chrome_traces.kinds import collective, kind_of, payload
from lockstep.chrome_traces.spans import Recording, recording

# Two layers on a GPU, and the all-reduce of the second one's gradient on another stream, as kineto writes it.
COMPUTE, NCCL = {"pid": 0, "tid": 7, "cat": "kernel"}, {"pid": 0, "tid": 20}
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SAID = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float"}
STEP: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
    {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
    {"ph": "X", "name": "nccl:all_reduce", "cat": "user_annotation", "ts": 103, "dur": 1, "pid": 99, "tid": 99},
    {"ph": "X", "name": "c10d::allreduce_", "cat": "cpu_op", "ts": 102, "dur": 4, "pid": 99, "tid": 99},
    {"ph": "X", "name": "gemm", "ts": 100, "dur": 10, **COMPUTE},
    {"ph": "X", "name": "gemm", "ts": 120, "dur": 5, **COMPUTE},
    {"ph": "X", "name": "nccl:all_reduce", "cat": "gpu_user_annotation", "ts": 110, "dur": 20, **NCCL},
    {"ph": "X", "name": ALL_REDUCE, "cat": "kernel", "ts": 110, "dur": 20, **NCCL, "args": SAID},
    {"ph": "s", "name": "ac2g", "id": 3, "ts": 102, "pid": 99, "tid": 99},
    {"ph": "i", "name": "mark", "ts": 90, "s": "g", "pid": "Traces", "tid": "Trace"},
    {"ph": "X", "name": "PyTorch Profiler (0)", "cat": "Trace", "ts": 80, "dur": 90, "pid": "Spans", "tid": "x"},
]


def written(folder: Path, data: object, name: str = "t.json") -> Recording:
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data))
    return recording(folder / name)


def test_a_training_loop_that_torch_profiled(tmp_path: Path) -> None:
    """Numbers and times of its operations are torch's own."""
    model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(3):
            with record_function("one step"):
                model(torch.ones(8, 32)).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
    profiler.export_chrome_trace(str(tmp_path / "t.json"))
    packed = tmp_path / "t.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "t.json").read_bytes()))
    found = recording(packed)

    assert profiler.profiler is not None
    raw = Counter(e.name() for e in profiler.profiler.kineto_results.events())
    assert raw["one step"] == 3
    assert Counter(s.name for s in found.spans) == raw
    averages = {a.key: a for a in profiler.key_averages()}
    seen = findings(found)
    assert {"aten::addmm", "aten::mm"} & {one.name for one in seen.longest}
    for one in seen.longest:
        assert one.number == raw[one.name]
        assert one.seconds * 1e6 == pytest.approx(averages[one.name].self_cpu_time_total, rel=0.02, abs=3)
    assert not seen.communication
    assert recording(tmp_path / "t.json").spans == found.spans


@pytest.mark.parametrize("form", ["object", "list", "a list without its end", "a list whose last event has a comma"])
def test_all_forms_of_a_trace(tmp_path: Path, form: str) -> None:
    """An object; a list, whose end may be missing if its writer was killed (as with Horovod's and Chrome's own)."""
    text = json.dumps(STEP)
    forms = {"object": json.dumps({"schemaVersion": 1, "traceEvents": STEP, "traceName": "x"}), "list": text}
    found = written(tmp_path, forms.get(form, text[:-1] + ("," if form.endswith("comma") else "")))
    assert (len(found.spans), found.events, found.whole) == (6, 12, form in forms)


def test_a_step_on_a_gpu(tmp_path: Path) -> None:
    found = written(tmp_path, STEP)
    assert found.total == pytest.approx(30e-6)
    assert [(lane.name, lane.is_stream) for lane in found.lanes] == [
        ("thread 99", False), ("GPU 0 stream 7", True), ("GPU 0 stream 20", True),
    ]  # fmt: skip
    seen = findings(found)
    stream = seen.uses[1]
    assert (stream.computing, stream.idle) == (pytest.approx(15e-6), pytest.approx(15e-6))
    assert [(one.name, one.number) for one in seen.longest] == [("gemm", 2)]


def test_a_collective_counts_once_and_is_hidden_where_the_gpu_computes(tmp_path: Path) -> None:
    """It is told by the CPU, by an annotation on the stream and by its kernel; half of it is behind the second gemm."""
    (one,) = findings(written(tmp_path, STEP)).communication
    assert (one.kind, one.number, one.nbytes) == ("all_reduce", 1, 4000)
    assert (one.seconds, one.hidden) == (pytest.approx(20e-6), pytest.approx(5e-6))


@pytest.mark.parametrize("kept", ["gpu_user_annotation", "user_annotation"])
def test_where_there_is_no_kernel_the_next_best_source_counts(tmp_path: Path, kept: str) -> None:
    told = [e for e in STEP if e.get("cat") in ("cpu_op", kept)]
    (one,) = findings(written(tmp_path, told)).communication
    assert (one.kind, one.number) == ("all_reduce", 1)
    assert one.seconds == pytest.approx(20e-6 if kept == "gpu_user_annotation" else 1e-6)


def test_pairs_of_begin_and_end(tmp_path: Path) -> None:
    """By thread (B, E), as Horovod writes them, and by id (b, e), as NCCL's profiler does, whose list ends with {}."""
    thread, nccl = {"pid": 1, "tid": 1}, {"pid": 2, "tid": 1, "cat": "COLL", "name": "AllReduce"}
    found = written(tmp_path, [
        {"ph": "B", "name": "outer", "ts": 0, **thread}, {"ph": "B", "name": "inner", "ts": 2, **thread},
        {"ph": "E", "ts": 3, **thread}, {"ph": "E", "ts": 9, **thread}, {"ph": "E", "ts": 9, **thread},
        {"ph": "b", "id": 0, "ts": 1, **nccl}, {"ph": "b", "id": 1, "ts": 2, **nccl},
        {"ph": "e", "id": 0, "ts": 5, **nccl}, {"ph": "e", "id": 1, "ts": 8, **nccl},
        {},
    ])  # fmt: skip
    spans = [(s.name, round(s.begin * 1e6), round(s.end * 1e6)) for s in found.spans]
    assert spans == [("outer", 0, 9), ("AllReduce", 1, 5), ("AllReduce", 2, 8), ("inner", 2, 3)]


def test_what_never_ended_lasts_until_the_end(tmp_path: Path) -> None:
    """The collective in which a program hung is the one that its trace should show."""
    thread = {"pid": 1, "tid": 1}
    found = written(tmp_path, [
        {"ph": "B", "name": "ALLREDUCE", "ts": 5, **thread},
        {"ph": "X", "name": "f", "ts": 0, "dur": 40, "pid": 1, "tid": 2},
    ])  # fmt: skip
    assert [(s.name, round(s.begin * 1e6), round(s.end * 1e6)) for s in found.spans] == [
        ("f", 0, 40),
        ("ALLREDUCE", 5, 40),
    ]
    assert found.unended == 1


def test_a_stack_of_python_functions_has_a_lane_of_its_own(tmp_path: Path) -> None:
    """It would push the operations that it covers out of sight, and is no computing."""
    thread = {"pid": 1, "tid": 1, "ph": "X"}
    stack = [{"name": f"f{i}", "cat": "python_function", "ts": i, "dur": 100 - 2 * i, **thread} for i in range(30)]
    found = written(tmp_path, [*stack, {"name": "aten::mm", "cat": "cpu_op", "ts": 40, "dur": 10, **thread}])
    assert [lane.name for lane in found.lanes] == ["thread 1", "thread 1: Python"]
    seen = findings(found)
    assert [one.name for one in seen.longest] == ["aten::mm"]
    assert seen.uses[0].idle == pytest.approx(90e-6)


@pytest.mark.parametrize(
    ("category", "name", "kind"),
    [
        ("kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "all_reduce"),
        ("kernel", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", "reduce_scatter"),
        ("kernel", "ncclDevKernel_AllGather_RING_LL(x)", "all_gather"),
        ("kernel", "ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", "reduce"),
        ("kernel", "ncclDevKernel_Broadcast_RING_LL(x)", "broadcast"),
        ("kernel", "ncclDevKernel_SendRecv(x)", "send and recv"),
        ("kernel", "ncclDevKernel_Generic_4(x)", "collective"),
        ("user_annotation", "gloo:all_reduce", "all_reduce"),
        ("user_annotation", "gloo:recv", "recv"),
        ("user_annotation", "nccl:_reduce_scatter_base", "reduce_scatter"),
        ("user_annotation", "nccl:send 0->1", "send"),
        ("cpu_op", "c10d::allreduce_", "call"),
        ("cpu_op", "aten::mm", "compute"),
        ("Kernel", "volta_sgemm_128x64_nn", "compute"),
        ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "copy"),
        ("cuda_runtime", "cudaLaunchKernel", "call"),
        ("user_annotation", "## forward ##", "annotation"),
        ("", "whatever", "compute"),
    ],
)
def test_what_a_span_is(category: str, name: str, kind: str) -> None:
    assert kind_of(category, name, {})[0] == kind


def test_what_a_kernel_of_nccl_says_of_itself() -> None:
    """all_to_all is sends and receives to NCCL; its arguments say what was called."""
    args = {"Collective name": "all_to_allv", "In msg nelems": 10, "Out msg nelems": 30, "dtype": "BFloat16"}
    assert kind_of("kernel", "ncclDevKernel_SendRecv(x)", args)[0] == "all_to_all"
    assert payload(args) == 60
    assert payload({"Input Dims": [[64, 65], []], "Input type": ["float", ""]}) == 4 * 64 * 65
    assert payload({"Input Dims": [["64"], [1 << 90]], "Input type": ["float", "float"]}) == 0
    assert collective("allgather_into_tensor_coalesced") == "all_gather"
