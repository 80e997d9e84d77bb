"""What ranks of the virtual cluster share, and what belongs to each: every entry of the table in the docs."""

import re
from pathlib import Path

import process_state
import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RankRaised

DOCS = Path(__file__).parents[2] / "docs" / "virtual-cluster.md"
pytestmark = pytest.mark.reads("docs/")


def table() -> tuple[list[str], list[str]]:
    """The entries that are each rank's own, and those that are shared."""
    text = DOCS.read_text()
    _, own, shared = zip(*re.findall(r"^\| (.*?) \| (.*?) \| (.*?) ?\|$", text.partition("each rank's own | shared")[2],
                                     re.MULTILINE)[1:7], strict=True)  # fmt: skip
    return entries(own), entries(shared)


def entries(cells: tuple[str, ...]) -> list[str]:
    return [entry for cell in cells for entry in cell.split("; ") if entry]


OWN, SHARED = table()


def test_the_table_has_what_is_tried() -> None:
    assert sorted(OWN + SHARED) == sorted(process_state.ROWS)


@pytest.mark.parametrize("entry", [*OWN, *SHARED])
def test_an_entry_of_the_table_is_true(entry: str) -> None:
    changed, seen = run(process_state.seen, entry, ranks=2, on="virtual").values
    assert changed
    assert seen == (entry in SHARED)


@pytest.mark.slow
@pytest.mark.parametrize("entry", [*OWN, *SHARED])
def test_on_processes_all_of_it_is_each_ranks_own(entry: str) -> None:
    assert run(process_state.seen, entry, ranks=2, on="processes").values == [True, False]


@pytest.mark.parametrize("on", ["virtual", "processes"])
@pytest.mark.parametrize("tag", [-1, 2**31, 2**40])
def test_a_tag_that_gloo_cannot_send_is_refused(tag: int, on: str) -> None:
    """The virtual cluster took any number, so that a program was right there and nowhere else."""

    def exchanges() -> None:
        act = dist.recv if dist.get_rank() else dist.send
        act(torch.ones(1), 1 - dist.get_rank(), tag=tag)

    with pytest.raises(RankRaised, match=r"[Tt]ag"):
        run(exchanges, ranks=2, on=on)
