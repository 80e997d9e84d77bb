"""``make gpu``: what Lockstep does on the GPUs of this machine. One command, for whoever is the first with such a node.

    lockstep doctor
    every reference under torchrun: on one rank, and on as many as there are GPUs, which NCCL must connect
    the kernels of unit 03 on the GPU, beside the counts of the warp machine
    the tests that need a GPU

Where there is none, it says why, and ends with 0. Otherwise the exit code is the number of parts that failed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# Their messages are made in the host's memory, and gloo carries them, also on a node with GPUs (docs/gpu-node.md).
IN_HOST_MEMORY = {"communication.ping_pong", "without_waiting.parameter_server"}


def no_gpu() -> str:
    """Why nothing can be tried here; "" where there is a GPU."""
    if torch.version.cuda is None:
        return f"this torch, {torch.__version__}, is built without CUDA"
    return "" if torch.cuda.is_available() else "torch finds no GPU that works"


def python(*command: str | Path) -> int:
    """Run Python here, with this tree's packages. Returns the exit code."""
    path = os.pathsep.join([str(ROOT / "pkg"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *map(str, command)], env=environment, cwd=ROOT, check=False).returncode


def references(ranks: int, wanted: str, *ids: str) -> list[str]:
    """What is wrong after all references (or ``ids``) have run under torchrun on ``ranks`` ranks; a report is printed.
    ``wanted``: the backend that must have carried the messages."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        code = python(*torchrun, HERE / "references_of_ranks.py", out, *ids)
        if code or not out.exists():
            return [f"torchrun ended with exit code {code}"]
        found = json.loads(out.read_text())
    print(report(ranks, found))
    return faults(found, wanted)


def report(ranks: int, found: Sequence[dict[str, object]]) -> str:
    passed = sum(f["verdict"] == "passed" for f in found)
    carried = [(name, [f for f in found if name in f["backends"]]) for name in ("nccl", "gloo")]
    told = ", ".join(f"{name} carried messages of {len(those)}" for name, those in carried)
    return f"{ranks} rank{'s' * (ranks > 1)}: {passed} of {len(found)} references pass; {told}."


def faults(found: Sequence[dict[str, object]], wanted: str) -> list[str]:
    wrong = [f"{f['exercise']}: {f['verdict']}. {f['told']}" for f in found if f["verdict"] != "passed"]
    for f in found:
        others = set(f["backends"]) - {wanted}
        if others and f["exercise"] not in IN_HOST_MEMORY:
            wrong.append(f"{f['exercise']}: {', '.join(sorted(others))} carried messages, and not {wanted} alone.")
    return wrong


def main() -> int:
    if reason := no_gpu():
        print(f"make gpu: nothing was tried, since {reason}.")
        return 0
    gpus = torch.cuda.device_count()
    print(f"{gpus} × {torch.cuda.get_device_name(0)}, torch {torch.__version__}, NCCL {torch.cuda.nccl.version()}")
    failed = []
    if python("-m", "lockstep", "doctor"):
        failed.append("lockstep doctor")
    for ranks in sorted({1, gpus}):
        print(f"==> references under torchrun, {ranks} of {gpus} GPUs", flush=True)
        if wrong := references(ranks, "nccl"):
            print("\n".join(wrong))
            failed.append(f"references on {ranks} ranks")
    print("==> kernels of unit 03", flush=True)
    if python(HERE / "kernels_on_gpu.py"):
        failed.append("kernels")
    print("==> tests that need a GPU", flush=True)
    if python("-m", "pytest", "-q", "-n0", "-m", "gpu", "tests/simt"):
        failed.append("tests")
    alone = "; nothing was tried between two GPUs" if gpus == 1 else ""
    print(f"make gpu: {'failed: ' + ', '.join(failed) if failed else 'all is right'}{alone}.")
    return len(failed)


if __name__ == "__main__":
    raise SystemExit(main())
