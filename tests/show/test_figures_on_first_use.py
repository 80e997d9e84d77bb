"""A figure is imported when it is first used: `lockstep check` draws a timeline, and imported all 45 for it."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

from lockstep import show

PROGRAM = """
import sys
from lockstep.show import timeline
import lockstep.show.timeline
from lockstep import show
assert callable(show.timeline) and show.timeline is timeline, "the figure, and not the module of its name"
others = [m for m in sys.modules if m.startswith(("lockstep.show.warp", "lockstep.simt", "lockstep.experts"))]
print(others)
"""


@pytest.mark.slow
def test_one_figure_imports_no_other() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"


def test_each_is_a_function_whatever_was_imported_before() -> None:
    for name in show.__all__:
        assert isinstance(getattr(show, name), types.FunctionType), name
    assert set(show.__all__) <= set(dir(show))


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'pie'"):
        _ = show.pie  # type: ignore[attr-defined]
