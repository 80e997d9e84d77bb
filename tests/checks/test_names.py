"""The names that code uses are those that ``dis`` finds in it."""

from __future__ import annotations

import dis
from pathlib import Path

import pytest

from lockstep.checks import names_in_code

PACKAGE = Path(names_in_code.__file__).parents[1]
WIDE = "def wide(x):\n" + "".join(f"    a{n}; x.b{n}\n" for n in range(300))  # operands of two bytes


@pytest.mark.parametrize(
    "text", [WIDE, *(path.read_text(encoding="utf-8") for path in PACKAGE.glob("checks/*.py"))], ids=lambda t: t[:30]
)
def test_the_names_are_those_that_dis_finds(text: str) -> None:
    for code in names_in_code.inside(compile(text, "", "exec")):
        assert list(names_in_code.used(code)) == [
            (step.opname, step.argval) for step in dis.get_instructions(code) if step.opcode in dis.hasname
        ]
