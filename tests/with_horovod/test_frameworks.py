"""The table of frameworks: what can be checked here is, and each cell stands on a page."""

from __future__ import annotations

import inspect
from importlib.metadata import entry_points

import pytest
import torch
import torch.distributed as dist
from torch.distributed import run as torchrun

from lockstep.with_horovod.frameworks import TABLE, Place, cells, frameworks, then_and_now


def test_every_cell_has_one_name_and_a_sentence_of_a_page() -> None:
    for place, cell in cells():
        assert cell.names, place
        assert all(cell.names), place
        assert cell.page.count("/") >= 2, place
        assert " " not in cell.page, place
        assert len(cell.says) > 10
        assert not set(cell.names) & set(cell.before), place


def test_no_name_belongs_to_two_places() -> None:
    names = [name for _, cell in cells() for name in cell.names]
    assert len(names) == len(set(names))


def test_the_names_of_torch_are_those_of_the_installed_torch() -> None:
    torch_names = frameworks()["torch.distributed"]
    devices = dist.Backend.default_device_backend_map
    assert torch_names["backend for CPUs"] == devices["cpu"]
    assert torch_names["backend for NVIDIA GPUs"] == devices["cuda"]
    assert torch_names["backend for Intel GPUs"] == devices["xpu"]
    assert torch_names["backend only if torch was built with it"] in dist.Backend.backend_list
    assert hasattr(torch.nn.parallel, torch_names["wraps a model, averages gradients"])
    said = " ".join((torchrun.__doc__ or "").replace("`", "").split())
    assert TABLE["torch.distributed"]["command that starts the ranks"].says in said


@pytest.mark.horovod
def test_the_names_of_horovod_are_those_of_the_installed_horovod() -> None:
    import horovod.torch as hvd

    rows = TABLE["Horovod"]
    for cell in ("wraps an optimizer, averages gradients", "gives all ranks rank 0's weights"):
        said = " ".join((inspect.getdoc(getattr(hvd, rows[cell].names[0])) or "").split())
        assert rows[cell].says in said
    command = frameworks()["Horovod"]["command that starts the ranks"]
    assert entry_points(group="console_scripts", name=command)


def test_what_the_notes_say_has_moved() -> None:
    table = then_and_now()
    assert all(len(row) == len(table.head) for row in table.rows)
    assert all(then != now for then, now, _ in table.rows)
    assert dict(cells())[Place("libraries below", "today's name of MKL-DNN")].names == ("oneDNN",)
