"""The notebooks that git has are what their sources make. `lockstep build --check` says so in `make test`, too."""

from __future__ import annotations

import pytest

from lockstep.grading.build import build
from lockstep.grading.course import root

pytestmark = [pytest.mark.slow, pytest.mark.reads("course/", "docs/", "labs/", "solutions/")]


def test_the_committed_notebooks_are_what_their_sources_make() -> None:
    assert build(root(), check=True) == []
