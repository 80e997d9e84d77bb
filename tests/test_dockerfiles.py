"""hadolint finds nothing in the recipes of the images."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HADOLINT = Path(sys.executable).with_name("hadolint")  # of the extra dev
RECIPES = sorted(Path(__file__).parents[1].glob("docker/*.Dockerfile"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_hadolint_is_content(recipe: Path) -> None:
    done = subprocess.run([HADOLINT, "--no-color", recipe], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_would_say_so(tmp_path: Path) -> None:
    bad = tmp_path / "bad.Dockerfile"
    bad.write_text("FROM debian:latest\nRUN cd /tmp && sudo apt-get install python3\n")
    done = subprocess.run([HADOLINT, "--no-color", bad], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "DL3007" in done.stdout, "no version of the base"
