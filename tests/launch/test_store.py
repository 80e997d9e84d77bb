"""The store of the ranks of one machine: what torch asks of one, its own answers to groups made later included."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import store_cases as cases
import torch.distributed as dist

from lockstep import run
from lockstep.launch.store import BriskStore


@pytest.fixture
def store(tmp_path: Path) -> BriskStore:
    return BriskStore(str(tmp_path / "store"), 2)


def test_two_processes_find_each_others_values(store, tmp_path) -> None:
    other = BriskStore(str(tmp_path / "store"), 2)
    store.set("fruit", "apple")
    assert other.get("fruit") == b"apple"
    assert (store.add("number", 2), other.add("number", 3)) == (2, 5)


def test_it_serves_where_torch_calls_it_from_c(store) -> None:
    """Through a PrefixStore, as a group does."""
    prefixed = dist.PrefixStore("group", store)
    prefixed.set("fruit", "apple")
    assert prefixed.get("fruit") == b"apple"
    assert store.get("group/fruit") == b"apple"
    assert prefixed.check(["fruit"])
    assert prefixed.add("number", 4) == 4
    assert prefixed.compare_set("fruit", "apple", "pear") == b"pear"
    assert prefixed.num_keys() == store.num_keys() >= 2
    assert prefixed.delete_key("fruit")
    assert not prefixed.check(["fruit"])
    assert prefixed.clone().add("number", 1) == 5


def test_what_never_comes_is_awaited_so_long(store) -> None:
    with pytest.raises(TimeoutError, match=r"Timed out waiting 0.05 s for other ranks at: none"):
        store.wait(["none"], timedelta(seconds=0.05))
    store.set_timeout(timedelta(seconds=0.04))
    with pytest.raises(TimeoutError, match=r"waiting 0.04 s"):
        dist.PrefixStore("group", store).get("none")


def test_groups_made_later() -> None:
    """new_group asks for a clone of the store: without one it failed on every rank."""
    assert run(cases.groups, ranks=4, on="processes").values == [[6.0, 1.0], [6.0, 1.0], [6.0, 5.0], [6.0, 5.0]]
