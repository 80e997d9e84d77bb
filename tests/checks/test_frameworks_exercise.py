"""The table of frameworks, judged name by name."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.horovod.frameworks.exercise import examine, watch
from lockstep.with_horovod.frameworks import cells, frameworks

EXERCISE = find("horovod.frameworks")
OPEN = [(place, cell) for place, cell in cells() if not cell.given]


def judged(table: Any) -> Fault | None:
    return examine(Seen(Case(1, 0), returned=([watch(lambda: table, ())],)))


def changed(framework: str, cell: str, name: Any) -> Any:
    table = frameworks()
    table[framework][cell] = name
    return table


@pytest.mark.parametrize(("place", "cell"), OPEN, ids=str)
def test_each_name_counts_as_much_and_its_sentence_does_not_give_it_away(place: Any, cell: Any) -> None:
    for name in cell.names:
        assert judged(changed(*place, name)) is None
    fault = judged(changed(*place, "?"))
    assert fault is not None
    assert fault.misconception == "still-open"
    assert fault.earned == pytest.approx(1 - 1 / len(OPEN))
    said = fault.message.partition(" says: ")[2]
    assert not any(name.lower() in said.lower() for name in cell.names)


@pytest.mark.parametrize(
    ("name", "misconception"),
    [
        ("NumNodes", "another-name"),
        ("NUM_NODES", "other-case"),
        ("Trainer.num_nodes", "with-modules"),
        ("torchrun", "other-place"),
        (4, "wrong-type"),
        (None, "no-cell"),
    ],
)
def test_what_is_said_of_a_name(name: Any, misconception: str) -> None:
    fault = judged(changed("Lightning", "its argument: how many machines", name))
    assert fault is not None
    assert fault.misconception == misconception


@pytest.mark.parametrize(
    ("framework", "cell", "name", "told"),
    [
        ("Horovod", "gives all ranks rank 0's weights", "broadcast_variables", "that in horovod.torch is wanted."),
        ("torch.distributed", "backend for NVIDIA GPUs", "NCCL", "Upper and lower case count."),
        ("torch.distributed", "backend for Intel GPUs", "XCCL", "Upper and lower case count."),
        ("torch.distributed", "backend only if torch was built with it", "UCC", "Upper and lower case count."),
        ("Lightning", "its strategy on DistributedDataParallel", "DDPStrategy", "the string that the trainer takes"),
        ("Lightning", "its strategy on DistributedDataParallel", "ddp_spawn", "is not the regular one."),
    ],
)
def test_a_name_that_the_text_rules_out_is_refused(framework: str, cell: str, name: str, told: str) -> None:
    """They had full points: the table was more generous than the text."""
    fault = judged(changed(framework, cell, name))
    assert fault is not None
    assert f"{name!r}" in fault.message
    assert told in fault.message


@pytest.mark.parametrize("table", [None, [], {"Horovod": "horovodrun"}, "horovodrun"])
def test_what_is_no_table(table: Any) -> None:
    fault = judged(table)
    assert fault is not None
    assert fault.misconception == "no-table"


def test_nothing_earns_nothing() -> None:
    fault = judged({framework: dict.fromkeys(rows, "?") for framework, rows in frameworks().items()})
    assert fault is not None
    assert fault.earned == 0
