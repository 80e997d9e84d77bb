"""The warp machine leaves the same arrays behind as numba's own simulator, kernel by kernel."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_bank import CASES

from lockstep.simt import launch

BANK = Path(__file__).with_name("kernel_bank.py")


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """All cases in one process: numba chooses its simulator when it is imported."""
    path = tmp_path_factory.mktemp("simulator") / "arrays.npz"
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    subprocess.run([sys.executable, str(BANK), str(path)], env=environment, check=True, timeout=240)
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.mark.slow
@pytest.mark.sampled(14)
@pytest.mark.parametrize("name", list(CASES))
def test_same_arrays(name: str, simulated: dict[str, np.ndarray]) -> None:
    case = CASES[name]
    arguments = case.arguments()
    found = launch(case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes).findings
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            np.testing.assert_allclose(argument, simulated[f"{name}/{number}"], rtol=2e-6)
    expected = {"negative_index"} if name == "from_the_end" else set()
    assert {finding.kind for finding in found} == expected
