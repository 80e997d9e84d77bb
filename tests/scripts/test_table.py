"""docs/scripts.md has a table of what the programs of ``as_written`` took: made here, and compared with what runs."""

import contextlib
import io
import re
import tempfile
from pathlib import Path

import pytest

from lockstep.scripts.script import Script
from lockstep.worlds import Result, run_script

PAGE = Path(__file__).parents[2] / "docs" / "scripts.md"
AS_WRITTEN = Path(__file__).parent / "as_written"
PROGRAMS = {
    "ddp_tutorial.py": "3 2",
    "nano_gpt.py": "--max_iters=3",
    "fsdp2.py": "--mixed-precision",
    "tensor_parallel.py": "--sequence-parallel",
    "mp_spawn.py": "{ranks}",
}
RANKS = (2, 4)
HEAD = (
    "| script | ranks | time on dgx-a100 | bytes handed to communication | most memory of a rank | bytes on processes |"
)
pytestmark = pytest.mark.reads("docs/scripts.md", "tests/scripts/as_written/")


def of_program(name: str, ranks: int, on: str) -> Result:
    """The run of a program in a new folder, since it would go on from a snapshot that it finds."""
    arguments = PROGRAMS[name].format(ranks=ranks).split()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        return run_script(Script(str(AS_WRITTEN / name), tuple(arguments)), ranks, on, "rendezvous")


def handed_over(result: Result) -> int:
    return sum(count.nbytes for (_, kind), count in result.trace.counts().items() if kind != "recv")


def row(name: str, ranks: int) -> str:
    here = of_program(name, ranks, "dgx-a100")
    called = f"`{name} {PROGRAMS[name].format(ranks=ranks)}`"
    beside = f"{handed_over(of_program(name, ranks, 'processes')):,}" if ranks == 2 else ""
    told = [called, str(ranks), f"{here.time * 1e3:.2f} ms", f"{handed_over(here):,}", f"{max(here.peak_memory):,}"]
    return f"| {' | '.join([*told, beside])} |".replace("|  |", "| |")


@pytest.mark.slow
def test_the_table_is_what_ran() -> None:
    """Print it with ``pytest -s``, and put it into the page."""
    rows = [row(name, ranks) for name in PROGRAMS for ranks in RANKS]
    table = "\n".join([HEAD, re.sub(r"[^|]+", " --- ", HEAD), *rows])
    print(table)
    assert table in PAGE.read_text()
