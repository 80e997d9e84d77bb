"""``make gpu`` on a machine without a GPU: it says so; and its parts run on processors, with gloo and numba's
simulator."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import kernels_on_gpu
import node
import pytest
import torch

ROOT = Path(__file__).parents[2]
SIMULATED = """
import pickle, sys
from kernels_on_gpu import timed
pickle.dump([(times.kernel, arguments) for times, arguments in timed(1, "reduce_shuffle")], open(sys.argv[1], "wb"))
"""
FOUND = [
    {"exercise": "communication.ring_all_reduce", "verdict": "passed", "backends": ["nccl"], "told": ""},
    {"exercise": "communication.ping_pong", "verdict": "passed", "backends": ["gloo"], "told": ""},
    {"exercise": "why_parallel.partition", "verdict": "passed", "backends": [], "told": ""},
]
pytestmark = pytest.mark.reads("Makefile")


@pytest.mark.skipif(torch.cuda.is_available(), reason="here is a GPU")
def test_without_a_gpu_it_is_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert node.main() == 0
    assert capsys.readouterr().out == f"make gpu: nothing was tried, since {node.no_gpu()}.\n"
    assert node.no_gpu()


def test_a_torch_without_cuda_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    assert node.no_gpu() == f"this torch, {torch.__version__}, is built without CUDA"
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert node.no_gpu() == "torch finds no GPU that works"


def test_make_knows_the_command() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "gpu"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].endswith("python tests/gpu/node.py")


def test_what_is_on_gpus_must_be_carried_by_nccl() -> None:
    assert node.faults(FOUND, "nccl") == []
    astray = [FOUND[0] | {"backends": ["gloo", "nccl"]}, FOUND[1] | {"verdict": "ungraded", "told": "No room."}]
    assert node.faults(astray, "nccl") == [
        "communication.ping_pong: ungraded. No room.",
        "communication.ring_all_reduce: gloo carried messages, and not nccl alone.",
    ]
    assert (
        node.report(2, FOUND)
        == "2 ranks: 3 of 3 references pass; nccl carried messages of 1, gloo carried messages of 1."
    )


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
def test_references_run_under_torchrun(ranks: int, capfd: pytest.CaptureFixture[str]) -> None:
    ids = ["communication.ring_all_reduce", "communication.ping_pong", "gpu.vector_add"]
    backend = "nccl" if torch.cuda.is_available() and torch.cuda.device_count() >= ranks else "gloo"
    assert node.references(ranks, backend, *ids) == []
    assert f"{ranks} rank{'s' * (ranks > 1)}: 3 of 3 references pass" in capfd.readouterr().out


@pytest.mark.slow
def test_all_kernels_agree_with_the_simulator(tmp_path: Path) -> None:
    """numba's own simulator knows no shuffles. Each kernel is launched, and once more to be timed, for nothing."""
    path = os.pathsep.join([str(ROOT / "tests" / "gpu"), str(ROOT / "pkg")])
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path}
    command = [sys.executable, "-c", SIMULATED, str(tmp_path / "simulated.pickle")]
    subprocess.run(command, env=environment, check=True, timeout=500)
    simulated = pickle.loads((tmp_path / "simulated.pickle").read_bytes())
    assert [name for name, _ in simulated] == [kernel.__name__ for kernel, _ in kernels_on_gpu.calls("reduce_shuffle")]
    for (name, there), (counts, here) in zip(simulated, kernels_on_gpu.counted("reduce_shuffle"), strict=True):
        assert kernels_on_gpu.same(here, there), name
        assert counts.total().instructions > 0
