"""The third world: torchrun starts the ranks; values and messages are those of the virtual cluster."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from collective_cases import swept

HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_same_sweep_under_torchrun(tmp_path: Path) -> None:
    answer = tmp_path / "answer.pickle"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
    path = os.pathsep.join([str(HERE), str(HERE.parents[1] / "pkg"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [*torchrun, str(HERE / "sweep_under_a_launcher.py"), str(answer)],
        check=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
    )
    values, counts, world = pickle.loads(answer.read_bytes())
    virtual = swept(3, "virtual")
    assert world == "spmd"
    assert counts == virtual.trace.counts()
    for mine, theirs in zip(values, virtual.values, strict=True):
        assert all(torch.equal(a, b) for x, y in zip(mine, theirs, strict=True) for a, b in zip(x, y, strict=True))
