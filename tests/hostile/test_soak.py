"""A busy machine is no learner's fault. `python tests/hostile/soak.py` does it for all answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).with_name("soak.py")


@pytest.mark.slow
@pytest.mark.horovod
@pytest.mark.timeout(900)
@pytest.mark.reads("pkg/lockstep/exercises/")
def test_right_answers_are_right_on_a_busy_machine():
    """Of every exercise one: 500 checks are this command without a number."""
    done = subprocess.run([sys.executable, SOAK, "100", "--busy", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
