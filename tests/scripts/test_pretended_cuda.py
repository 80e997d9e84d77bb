"""`lockstep run --pretend-cuda`: each name of torch.cuda that a program may ask, and where its tensors are."""

import ast
import contextlib
import io
import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lockstep.cli import main
from lockstep.scripts.script import Script
from lockstep.virtual import pretended_cuda
from lockstep.virtual.pretended_cuda import names_of_accelerator, names_of_cuda, names_of_nvtx
from lockstep.worlds import run_script

PAGE = Path(__file__).parents[2] / "docs" / "scripts.md"
pytestmark = pytest.mark.reads("docs/scripts.md", "tests/scripts/as_written/")
OWN = torch.device("cuda", 1)
A100 = "A100 SXM 80GB"

# What rank 1 of 2 finds. Each is a row of lines, of which the last one is looked at.
BY_NAME: dict[str, tuple[str, Any]] = {
    "cuda.is_available": ("cuda.is_available()", True),
    "cuda.is_initialized": ("cuda.is_initialized()", True),
    "cuda.init": ("cuda.init()", None),
    "cuda.device_count": ("cuda.device_count()", 2),
    "cuda.current_device": ("cuda.current_device()", 1),
    "cuda.set_device": ("cuda.set_device('cuda:0'); seen = cuda.current_device(); cuda.set_device(1); seen", 0),
    "cuda.device": ("with cuda.device(0): seen = cuda.current_device()\n(seen, cuda.current_device())", (0, 1)),
    "cuda.device_of": (
        "cuda.set_device(0)\nwith cuda.device_of(x): seen = cuda.current_device()\ncuda.set_device(1); seen",
        1,
    ),
    "cuda.can_device_access_peer": (
        "cuda.can_device_access_peer(0, 1), cuda.can_device_access_peer(1, 1)",
        (True, False),
    ),
    "cuda.get_device_name": ("cuda.get_device_name(0)", A100),
    "cuda.get_device_capability": ("cuda.get_device_capability()", (8, 0)),
    "cuda.get_device_properties": ("tuple(cuda.get_device_properties('cuda'))", (A100, 8, 0, 80_000_000_000)),
    "cuda.is_bf16_supported": ("cuda.is_bf16_supported(including_emulation=False)", True),
    "cuda.is_tf32_supported": ("cuda.is_tf32_supported()", True),
    "cuda.Event": (
        "a, b = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)\n"
        "a.record(); time.sleep(0.5); b.record(); b.wait(); b.synchronize(); round(a.elapsed_time(b)), b.query()",
        (500, True),
    ),
    "cuda.Stream": (
        "s = cuda.Stream(); s.wait_stream(cuda.current_stream()); s.wait_event(s.record_event()); s.synchronize()\n"
        "s.query(), s.is_capturing(), str(s.device), s.priority",
        (True, False, "cuda:1", 0),
    ),
    "cuda.StreamContext": (
        "with cuda.StreamContext(None): seen = cuda.current_stream()\nseen is cuda.default_stream()",
        True,
    ),
    "cuda.current_stream": ("s = cuda.Stream()\nwith s: seen = cuda.current_stream()\nseen is s", True),
    "cuda.default_stream": ("with cuda.Stream(): seen = cuda.default_stream()\nseen is cuda.current_stream()", True),
    "cuda.stream": ("s = cuda.Stream()\nwith cuda.stream(s): seen = cuda.current_stream()\nseen is s", True),
    "cuda.set_stream": (
        "s, before = cuda.Stream(), cuda.current_stream(); cuda.set_stream(s); seen = cuda.current_stream()\n"
        "cuda.set_stream(before); seen is s",
        True,
    ),
    "cuda.synchronize": ("cuda.synchronize(), cuda.synchronize('cuda:1')", (None, None)),
    "cuda.is_current_stream_capturing": ("cuda.is_current_stream_capturing()", False),
    "cuda.memory_allocated": (
        "n = cuda.memory_allocated(); y = torch.zeros(1000, device='cuda'); cuda.memory_allocated() - n",
        4000,
    ),
    "cuda.max_memory_allocated": (
        "cuda.reset_peak_memory_stats(); n = cuda.max_memory_allocated(); y = torch.zeros(1000).cuda(); del y\n"
        "cuda.max_memory_allocated() - n, cuda.max_memory_allocated(0)",
        (4000, 0),
    ),
    "cuda.memory_reserved": ("cuda.memory_reserved() == cuda.memory_allocated()", True),
    "cuda.max_memory_reserved": ("cuda.max_memory_reserved() == cuda.max_memory_allocated()", True),
    "cuda.reset_peak_memory_stats": (
        "cuda.reset_peak_memory_stats(); cuda.max_memory_allocated() - cuda.memory_allocated()",
        0,
    ),
    "cuda.reset_max_memory_allocated": (
        "cuda.reset_max_memory_allocated(); cuda.max_memory_allocated() - cuda.memory_allocated()",
        0,
    ),
    "cuda.empty_cache": ("cuda.empty_cache()", None),
    "cuda.ipc_collect": ("cuda.ipc_collect()", None),
    "cuda.mem_get_info": (
        "free, total = cuda.mem_get_info(); total, total - free == cuda.memory_allocated()",
        (80_000_000_000, True),
    ),
    "cuda.manual_seed": ("cuda.manual_seed(7); torch.initial_seed()", 7),
    "cuda.manual_seed_all": ("cuda.manual_seed_all(8); torch.initial_seed()", 8),
    "cuda.seed": ("cuda.manual_seed(7); cuda.seed(); torch.initial_seed() != 7", True),
    "cuda.seed_all": ("cuda.manual_seed(7); cuda.seed_all(); torch.initial_seed() != 7", True),
    "cuda.initial_seed": ("torch.manual_seed(9); cuda.initial_seed()", 9),
    "cuda.get_rng_state": (DREW := "s = cuda.get_rng_state(); a = torch.rand(3, device='cuda'); ", None),
    "cuda.set_rng_state": (DREW + "cuda.set_rng_state(s); bool((a == torch.rand(3, device='cuda')).all())", True),
    "cuda.get_rng_state_all": ("len(cuda.get_rng_state_all())", 2),
    "cuda.set_rng_state_all": (
        "s = cuda.get_rng_state_all(); a = torch.rand(3); cuda.set_rng_state_all(s); bool((a == torch.rand(3)).all())",
        True,
    ),
    "nvtx.range_push": ("cuda.nvtx.range_push('a')", 0),
    "nvtx.range_pop": ("cuda.nvtx.range_pop()", 0),
    "nvtx.range_start": ("cuda.nvtx.range_start('a')", 0),
    "nvtx.range_end": ("cuda.nvtx.range_end(0)", None),
    "nvtx.mark": ("cuda.nvtx.mark('a')", None),
    "nvtx.range": ("with cuda.nvtx.range('a'): seen = 1\nseen", 1),
    "accelerator.is_available": ("accelerator.is_available()", True),
    "accelerator.device_count": ("accelerator.device_count()", 2),
    "accelerator.current_accelerator": ("accelerator.current_accelerator().type", "cuda"),
    "accelerator.current_device_index": ("accelerator.current_device_index()", 1),
    "accelerator.current_device_idx": ("accelerator.current_device_idx()", 1),
    "accelerator.set_device_index": (
        "accelerator.set_device_index(0); seen = cuda.current_device(); cuda.set_device(1); seen",
        0,
    ),
    "accelerator.set_device_idx": (
        "accelerator.set_device_idx(0); seen = cuda.current_device(); cuda.set_device(1); seen",
        0,
    ),
    "accelerator.device_index": ("with accelerator.device_index(0): seen = cuda.current_device()\nseen", 0),
    "accelerator.current_stream": ("accelerator.current_stream() is cuda.current_stream()", True),
    "accelerator.set_stream": (
        "s = cuda.current_stream(); accelerator.set_stream(s); accelerator.current_stream() is s",
        True,
    ),
    "accelerator.synchronize": ("accelerator.synchronize()", None),
    "accelerator.memory_allocated": ("accelerator.memory_allocated() == cuda.memory_allocated() > 0", True),
    "accelerator.max_memory_allocated": ("accelerator.max_memory_allocated() == cuda.max_memory_allocated()", True),
    "accelerator.memory_reserved": ("accelerator.memory_reserved() == cuda.memory_reserved()", True),
    "accelerator.max_memory_reserved": ("accelerator.max_memory_reserved() == cuda.max_memory_reserved()", True),
    "accelerator.reset_peak_memory_stats": ("accelerator.reset_peak_memory_stats()", None),
    "accelerator.empty_cache": ("accelerator.empty_cache()", None),
    "accelerator.get_memory_info": ("accelerator.get_memory_info() == cuda.mem_get_info()", True),
}

SAVED = "f, f2 = io.BytesIO(), io.BytesIO(); torch.save(x, f); torch.save(h, f2); f2.seek(0); "

# Where tensors are, by what a program does with them; x is on the GPU, h is not.
WHERE: dict[str, tuple[str, Any]] = {
    "to by number": ("at(h.to(1))", "cuda:1"),
    "to by name": ("at(h.to('cuda')), at(h.to(device='cuda:1', dtype=torch.float16))", ("cuda:1", "cuda:1")),
    "to another's": ("at(h.to(x)), at(x.to(h))", ("cuda:1", "cpu")),
    "to a dtype": ("at(x.to(torch.float16)), at(h.to(torch.float16)), x.half().is_cuda", ("cuda:1", "cpu", True)),
    "cuda and cpu": ("at(h.cuda()), at(x.cpu()), at(x.to('cpu')), at(x)", ("cuda:1", "cpu", "cpu", "cuda:1")),
    "a copy": ("y = h.cuda(); h.add_(1); bool((y == h).any())", False),
    "no copy where it is there": ("x.cuda() is x, x.to('cuda') is x", (True, True)),
    "is_cuda": (
        "x.is_cuda, h.is_cuda, x.is_cpu, h.is_cpu, x.get_device(), h.get_device()",
        (True, False, False, True, 1, -1),
    ),
    "factories": (
        "at(torch.ones(2, device='cuda')), at(torch.ones(2)), at(torch.ones(2, device=x.device))",
        ("cuda:1", "cpu", "cuda:1"),
    ),
    "likes": (
        "at(torch.zeros_like(x)), at(x.new_zeros(2)), at(torch.zeros_like(x, device='cpu'))",
        ("cuda:1", "cuda:1", "cpu"),
    ),
    "from NumPy": (
        "n = numpy.zeros(3); y = torch.as_tensor(n, device='cuda'); n += 1; at(y), y.sum().item()",
        ("cuda:1", 0.0),
    ),
    "set_default_device": (
        "torch.set_default_device('cuda'); y = torch.ones(2); z = str(torch.get_default_device())\n"
        "torch.set_default_device(None); at(y), z, at(torch.ones(2))",
        ("cuda:1", "cuda:1", "cpu"),
    ),
    "with device": ("with torch.device('cuda'): y = torch.ones(2)\nat(y)", "cuda:1"),
    "what is computed": (
        "at(x + 1), at(x @ x), at(x[0]), at(h @ h), at(1 - x)",
        ("cuda:1", "cuda:1", "cuda:1", "cpu", "cuda:1"),
    ),
    "a module": ("m = nn.Linear(2, 2).cuda(); at(m.weight), at(m(x).detach())", ("cuda:1", "cuda:1")),
    "a module by to": ("m = nn.Linear(2, 2).to(1); at(m.weight), at(m.to('cpu').weight)", ("cuda:1", "cpu")),
    "a module made there": ("at(nn.Linear(2, 2, device='cuda').weight)", "cuda:1"),
    "gradients": ("m = nn.Linear(2, 2).to('cuda'); m(x).sum().backward(); at(m.weight.grad)", "cuda:1"),
    "gradients of DDP": (
        "m = DDP(nn.Linear(2, 2).cuda(), device_ids=[R], output_device=R); m(x).sum().backward()\n"
        "at(m.module.weight.grad)",
        "cuda:1",
    ),
    "optimizer state": (
        "m = nn.Linear(2, 2).cuda(); o = torch.optim.Adam(m.parameters()); m(x).sum().backward(); o.step()\n"
        "at(o.state[m.weight]['exp_avg'])",
        "cuda:1",
    ),
    "from meta": ("with torch.device('meta'): m = nn.Linear(2, 2)\nat(m.to_empty(device='cuda').weight)", "cuda:1"),
    "a deep copy": ("at(copy.deepcopy(x)), at(copy.deepcopy(h))", ("cuda:1", "cpu")),
    "pin_memory": (
        "at(h.pin_memory()), at(torch.zeros(2, pin_memory=True)), at(h.pin_memory().cuda(non_blocking=True))",
        ("cpu", "cpu", "cuda:1"),
    ),
    "a device by number": (
        "str(torch.device(1)), str(torch.device('cuda', 0)), str(torch.device('cpu'))",
        ("cuda:1", "cuda:0", "cpu"),
    ),
    "a sparse one": (
        "s = h.to_sparse(); s.cuda() is s, s.to('cuda').to_dense().tolist()",
        (False, [[1.0, 1.0], [1.0, 1.0]]),
    ),
    "type": (
        "x.type(), h.type(), x.double().type()",
        ("torch.cuda.FloatTensor", "torch.FloatTensor", "torch.cuda.DoubleTensor"),
    ),
    "record_stream": ("x.record_stream(cuda.current_stream())", None),
    "NumPy of it": (
        "told(lambda: x.numpy())",
        "TypeError: can't convert cuda:1 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
        "memory first.",
    ),
    "NumPy asks itself": (
        "told(lambda: numpy.asarray(x))[:22], numpy.asarray(x.cpu()).shape",
        ("TypeError: can't conve", (2, 2)),
    ),
    "a loaded one": (
        "f = io.BytesIO(); torch.save({'a': x}, f); f.seek(0); at(torch.load(f, map_location='cuda:1')['a'])",
        "cuda:1",
    ),
    "loaded by a dict": (
        SAVED + "f.seek(0); at(torch.load(f, map_location={'cuda:1': 'cpu'})), "
        "at(torch.load(f2, map_location={'cpu': 'cuda:1'}))",
        ("cpu", "cuda:1"),
    ),
    "loaded where it was": (SAVED + "f.seek(0); at(torch.load(f)), at(torch.load(f2))", ("cuda:1", "cpu")),
    "a batch": (
        "d = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2, pin_memory=True); [at(b) for b in d]",
        ["cpu", "cpu"],
    ),
    "autocast": (
        "with torch.autocast('cuda', dtype=torch.bfloat16): y = x @ x; on = torch.is_autocast_enabled('cuda')\n"
        "str(y.dtype), on, torch.is_autocast_enabled('cuda')",
        ("torch.bfloat16", True, False),
    ),
    "autocast by default": ("with torch.amp.autocast('cuda'): y = x @ x\nstr(y.dtype)", "torch.float16"),
    "GradScaler": (
        "m = nn.Linear(2, 2).cuda(); o = torch.optim.SGD(m.parameters(), 1.0); g = torch.amp.GradScaler('cuda')\n"
        "g.scale(m(x).sum()).backward(); g.unscale_(o); g.step(o); g.update(); g.get_scale(), m.weight.grad.tolist()",
        (65536.0, [[2.0, 2.0], [2.0, 2.0]]),
    ),
    "a fused optimizer": (
        "m = nn.Linear(2, 2).cuda(); o = torch.optim.AdamW(m.parameters(), fused=True)\n"
        "m(x).sum().backward(); o.step()\n"
        "at(o.state[m.weight]['exp_avg'])",
        "cuda:1",
    ),
    "a mesh": (
        "m = init_device_mesh('cuda', (2,)); d = distribute_tensor(torch.ones(4, 2), m, [Shard(0)])\n"
        "m.device_type, at(d.to_local().cuda())",
        ("cuda", "cuda:1"),
    ),
    "FSDP1": (
        "m = FSDP(nn.Linear(2, 2), device_id=R); y = m(x); y.sum().backward()\n"
        "at(y.detach()), at(next(m.parameters()))",
        ("cuda:1", "cuda:1"),
    ),
    "FSDP2": (
        "m = fully_shard(nn.Linear(2, 2).cuda(), mesh=init_device_mesh('cuda', (2,))); y = m(x); y.sum().backward()\n"
        "at(y.detach()), at(m.weight.to_local())",
        ("cuda:1", "cuda:1"),
    ),
    "memory of what FSDP2 gathers": (
        "m = nn.Sequential(nn.Linear(64, 64, bias=False), nn.Linear(64, 64, bias=False)).cuda()\n"
        "for l in m: fully_shard(l, mesh=init_device_mesh('cuda', (2,)))\n"
        "fully_shard(m, mesh=init_device_mesh('cuda', (2,))); before = cuda.memory_allocated()\n"
        "cuda.reset_peak_memory_stats(); m(torch.ones(1, 64, device='cuda')).sum().backward()\n"
        "(cuda.max_memory_allocated() - before) // (64 * 64 * 4)",
        3,
    ),
    "attention of a DTensor": (
        "m = init_device_mesh('cuda', (2,)); torch.manual_seed(0); q = torch.randn(2, 4, 8, 16, device='cuda')\n"
        "d = distribute_tensor(q, m, [Shard(1)]).requires_grad_(); attend = F.scaled_dot_product_attention\n"
        "y = attend(d, d, d, is_causal=True); y.sum().backward(); p = q.clone().requires_grad_()\n"
        "attend(p, p, p, is_causal=True).sum().backward()\n"
        "str(y.placements), torch.allclose(d.grad.full_tensor(), p.grad, atol=1e-5)",
        ("(Shard(dim=1),)", True),
    ),
    "a collective": (
        "y = torch.ones(2, device='cuda'); dist.all_reduce(y); dist.barrier(device_ids=[R]); at(y), y.tolist()",
        ("cuda:1", [2.0, 2.0]),
    ),
    "a checkpointed layer": (
        "m = nn.Linear(2, 2).cuda(); checkpoint(m, x, use_reentrant=False).sum().backward(); at(m.weight.grad)",
        "cuda:1",
    ),
    "fork_rng": ("with torch.random.fork_rng(): a = torch.rand(1)\nbool(a == torch.rand(1))", True),
    "compiled without kernels": ("at(torch.compile(nn.Linear(2, 2).cuda(), backend='eager')(x).detach())", "cuda:1"),
    "visible devices": (
        "os.environ['CUDA_VISIBLE_DEVICES'] = '1'; cuda.set_device(0); y = h.cuda()\n"
        "seen = at(y), cuda.device_count()\n"
        "del os.environ['CUDA_VISIBLE_DEVICES']; cuda.set_device(1); seen",
        ("cuda:0", 1),
    ),
}

REFUSED: dict[str, tuple[str, str]] = {
    "any other name": ("cuda.utilization()", "torch.cuda.utilization is not in the stand-in of --pretend-cuda."),
    "in the submodule": ("cuda.memory.memory_summary()", "torch.cuda.memory_summary is not in the stand-in"),
    "of a submodule": ("cuda.nccl.all_reduce([x])", "torch.cuda.nccl.all_reduce is not in the stand-in"),
    "a private one of the pages": (
        "cuda.memory._record_memory_history()",
        "_record_memory_history is not in the stand-in",
    ),
    "a class": ("cuda.FloatTensor(2)", "torch.cuda.FloatTensor is not in the stand-in"),
    "of the accelerator": ("accelerator.memory_stats()", "torch.accelerator.memory_stats is not in the stand-in"),
    "CUDA graphs": ("cuda.CUDAGraph()", "torch.cuda.CUDAGraph: a CUDA graph records kernels"),
    "as a context": ("cuda.graph(None)", "torch.cuda.graph: a CUDA graph records kernels"),
    "Triton": ("import triton", "triton brings kernels for a GPU"),
    "flash_attn": ("from flash_attn import flash_attn_func", "flash_attn brings kernels for a GPU"),
    ".cu": ("torch.utils.cpp_extension.load('a', ['a.cpp', 'a.cu'])", "a: kernels in CUDA C++ need a GPU"),
    "CUDA C++": (
        "torch.utils.cpp_extension.load_inline('a', '', cuda_sources='x')",
        "a: kernels in CUDA C++ need a GPU",
    ),
    "inductor": ("torch.compile(nn.Linear(2, 2))", "torch.compile makes kernels for a GPU"),
    "as a decorator": ("@torch.compile(mode='max-autotune')\ndef f(): ...", "torch.compile makes kernels for a GPU"),
    "another rank's GPU": ("h.to('cuda:0')", "This rank puts a tensor on cuda:0, but its own GPU is cuda:1"),
    "for DDP": ("DDP(nn.Linear(2, 2), device_ids=[0])", "its own GPU is cuda:1"),
    "one that is not there": ("cuda.set_device(2)", "cuda:2 was asked for, and this rank sees 2 GPUs."),
}

PROGRAM = """
    import copy, io, json, os, sys, time
    import numpy, torch, torch.utils.cpp_extension
    import torch.distributed as dist
    from torch import accelerator, cuda, nn
    import torch.nn.functional as F
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, fully_shard
    from torch.distributed.tensor import Shard, distribute_tensor
    from torch.nn.parallel import DistributedDataParallel as DDP
    from torch.utils.checkpoint import checkpoint

    def at(tensor):
        return str(tensor.device)

    def told(act):
        try:
            return act()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def last(lines):
        *lines, end = lines
        cuda.set_device(R)
        space = {**globals(), "x": torch.ones(2, 2, device="cuda"), "h": torch.ones(2, 2)}
        exec("\\n".join(lines), space)
        return eval(end, space)

    dist.init_process_group("nccl")
    R, seen = int(os.environ["LOCAL_RANK"]), {}
    for name, lines in json.loads(sys.argv[1]).items():
        seen[name] = told(lambda: last(lines))
    if R == 1:
        print("SEEN", repr(seen))
    """


def split(text: str) -> list[str]:
    """The statements of a text, and its last expression."""
    *before, end = ast.parse(text).body
    if not isinstance(end, ast.Expr):
        return [text, "None"]
    return [*map(ast.unparse, before), ast.unparse(end)]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program finds, by name: one run for all."""
    file = tmp_path_factory.mktemp("cuda") / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    asked = {name: split(text) for name, (text, _) in {**BY_NAME, **WHERE, **REFUSED}.items()}
    script = Script(str(file), (json.dumps(asked),))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        run_script(script, 2, "dgx-a100", "rendezvous", 100.0, pretend_cuda=True)
    line = next(line for line in out.getvalue().splitlines() if "SEEN" in line)
    found: dict[str, Any] = ast.literal_eval(line.partition("SEEN ")[2])
    return found


@pytest.mark.parametrize("name", BY_NAME)
def test_a_name(seen: dict[str, Any], name: str) -> None:
    assert seen[name] == BY_NAME[name][1]


@pytest.mark.parametrize("what", WHERE)
def test_where_a_tensor_is(seen: dict[str, Any], what: str) -> None:
    assert seen[what] == WHERE[what][1]


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(seen: dict[str, Any], what: str) -> None:
    assert REFUSED[what][1] in seen[what]


def test_each_name_is_tried_and_on_the_page() -> None:
    modules = {"cuda": names_of_cuda, "nvtx": names_of_nvtx, "accelerator": names_of_accelerator}
    names = [f"{module}.{name}" for module, of in modules.items() for name in pretended_cuda.names(of)]
    assert set(names) == set(BY_NAME)
    page = PAGE.read_text()
    assert [name for name in names if f"`{name.rpartition('.')[2]}`" not in page] == []


Lockstep = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lockstep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lockstep:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, text: str = "") -> tuple[int, str, str]:
        Path("script.py").write_text(textwrap.dedent(text).lstrip())
        code = main(["run", *arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_one_line_says_so_first(lockstep: Lockstep) -> None:
    text = "import torch; print(torch.ones(1).cuda().device)"
    code, out, _ = lockstep("--ranks", "1", "--on", "dgx-h100", "--pretend-cuda", "script.py", text=text)
    assert code == 0
    assert out.splitlines()[0].startswith("cuda is a stand-in: ")
    assert "H100" in out.splitlines()[0]
    assert out.splitlines()[1] == "[default0]:cuda:0"


def test_without_it_there_is_none(lockstep: Lockstep) -> None:
    text = "import torch; print(torch.cuda.is_available())"
    assert "[default0]:False" in lockstep("--ranks", "1", "--on", "dgx-a100", "script.py", text=text)[1]


def test_a_forgotten_set_device_is_told_by_its_line(lockstep: Lockstep) -> None:
    """On a real node all ranks would be on GPU 0: "Duplicate GPU detected", or no memory left."""
    text = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()"
    code, _, err = lockstep("--ranks", "2", "--on", "dgx-a100", "--pretend-cuda", "script.py", text=text)
    assert code == 1
    assert "rank 1 puts a tensor on cuda:0" in err.replace("This rank", "rank 1")
    assert "script.py, line 2" in err
    assert "set_device" in err


def test_a_node_has_as_many_as_it_has_ranks(lockstep: Lockstep) -> None:
    text = "import torch; print(torch.cuda.device_count())"
    out = lockstep("--ranks", "9", "--on", "dgx-a100", "--pretend-cuda", "script.py", text=text)[1]
    assert out.count(":8\n") == 8
    assert out.count(":1\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--on processes --pretend-cuda script.py", "needs a cluster of GPUs to simulate"),
        ("--on laptop --pretend-cuda script.py", "needs a cluster of GPUs to simulate"),
        ("--pretend-cuda script.py", "needs a cluster of GPUs to simulate"),
        ("--on dgx-a100 --pretend-cuda script.py:f", "is for a script"),
    ],
)
def test_misuse(lockstep: Lockstep, arguments: str, told: str) -> None:
    code, out, err = lockstep("--ranks", "2", *arguments.split())
    assert (code, out) == (2, "")
    assert told in err


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_nano_gpt_as_people_write_it(lockstep: Lockstep, dtype: str) -> None:
    """With autocast, a GradScaler for float16, pinned batches and DDP's device_ids. The loss is the CPU's."""
    program = str(Path(__file__).parent / "as_written" / "nano_gpt.py")
    arguments = (program, "--max_iters=2", "--backend=nccl", "--device=cuda", f"--dtype={dtype}")
    code, out, err = lockstep("--ranks", "2", "--on", "dgx-a100", "--pretend-cuda", *arguments)
    assert code == 0, err
    told = re.search(r"iter 2: loss ([0-9.]+)", out)
    here = re.search(
        r"iter 2: loss ([0-9.]+)", lockstep("--ranks", "2", "--on", "dgx-a100", program, "--max_iters=2")[1]
    )
    assert told
    assert here
    assert float(told[1]) == pytest.approx(float(here[1]), rel=0.02)
