"""The same source on a GPU: the plumbing, on numba's simulator of its own interface; a sentence where there is none."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from numba import cuda

from lockstep.errors import WorldUnavailable
from lockstep.experiments.gpu.on_gpu import OnGpu, beside, on_gpu, on_tensor_cores
from lockstep.simt import launch
from lockstep.simt.kernels import vector_add
from lockstep.simt.kernels.fragments import fragment_matmul

SIMULATED = """
import json
import numpy as np
from lockstep.experiments.gpu.on_gpu import on_gpu
from lockstep.simt.kernels import reduce_sequential
out = np.zeros(1, np.float32)
found = on_gpu(reduce_sequential, 2, 128, np.ones(256, np.float32), out, repeats=3)
print(json.dumps([float(out[0]), found.seconds, found.kernel]))
"""


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_there_is_one_sentence() -> None:
    with pytest.raises(WorldUnavailable, match=r"no GPU here.\nUse launch"):
        on_gpu(vector_add, 1, 32, *(np.zeros(32) for _ in range(3)))


@pytest.mark.slow
def test_arrays_are_changed_once_however_often_the_launch_is_timed() -> None:
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-c", SIMULATED]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=120)
    total, seconds, kernel = json.loads(done.stdout)
    assert total == 256
    assert len(seconds) == 3
    assert kernel == "reduce_sequential"


@pytest.mark.gpu
@pytest.mark.skipif(not cuda.is_available(), reason="needs a GPU")
def test_a_gpu_and_the_machine_agree() -> None:
    arrays = [np.arange(100, dtype=np.float32), np.ones(100, np.float32), np.zeros(100, np.float32)]
    timed = on_gpu(vector_add, 4, 32, *arrays)
    assert timed.median > 0
    assert (arrays[2] == arrays[0] + 1).all()


def test_counts_stand_beside_the_time() -> None:
    counted = launch(vector_add, 1, 32, *(np.zeros(32, np.float32) for _ in range(3)))
    told = beside(counted, OnGpu("vector_add", "H100", (2e-6, 1e-6, 9e-6)))
    assert told.startswith("vector_add on H100: 2.0 µs (median of 3)")
    assert "384 bytes in sectors: 0.2 GB/s" in told


@pytest.mark.skipif(torch.cuda.is_available(), reason="here is a GPU")
def test_without_a_gpu_the_emulation_is_named() -> None:
    with pytest.raises(WorldUnavailable, match=r"lockstep\.simt\.tensor_core"):
        on_tensor_cores(np.ones((16, 16)), np.ones((16, 8)))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_tensor_cores_sum_as_the_emulation_does() -> None:
    random = np.random.default_rng(0)
    A, B = random.integers(-4, 5, (64, 48)), random.integers(-4, 5, (48, 32))
    product, seconds = on_tensor_cores(A, B)
    assert seconds > 0
    assert (product == fragment_matmul(A.astype(np.float16), B.astype(np.float16))).all()
