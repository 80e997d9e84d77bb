"""What a run asks of its surroundings it asks once: which world it is in, and what this machine has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstep import worlds
from lockstep.comm import memory_kills
from lockstep.events import Outcome, Trace
from lockstep.this_machine import host, survey


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, calls: Counter[str]) -> None:
    real: Callable[..., Any] = getattr(module, name)

    def counting(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, counting)


def carried(job: Any, *_: Any) -> Outcome:
    """A run that starts no rank."""
    return Outcome([b""] * job.ranks, Trace(ranks=job.ranks), 0.0, [0] * job.ranks, "")


@pytest.mark.parametrize("on", [None, "processes", "dgx-a100"])
def test_the_world_is_decided_once_a_run(monkeypatch: pytest.MonkeyPatch, on: str | None) -> None:
    """It was decided twice a run, and three times a check: launchers' variables were parsed each time."""
    calls = Counter[str]()
    counted(monkeypatch, worlds, "choose_world", calls)
    counted(monkeypatch, worlds.spmd, "detect", calls)
    with worlds.carried_by(carried):
        worlds.run(int, ranks=2, on=on)
        assert calls["choose_world"] == 1
        worlds.run_sealed(bytes, own=[b"", b""], on=on)
    assert calls == Counter(choose_world=2) + Counter(detect=0 if on else 2)


def test_what_the_machine_has_is_read_once_a_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Control groups, memory and the processor's name were a third of the calls of a warm run on="virtual"."""
    calls = Counter[str]()
    for name in ("_text", "_quota_v2", "_quota_v1", "_number"):
        counted(monkeypatch, host, name, calls)
    for cached in (host._quota, host.memory, host.processor):
        cached.cache_clear()
    first = survey._fingerprint()
    assert calls["_text"] > 0
    calls.clear()
    assert survey._fingerprint() == first
    assert host.cores() == host.cores()
    assert calls == Counter()


def test_an_affinity_mask_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may change it for itself, as the virtual cluster does."""
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert host.cores().affinity == 3
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert host.cores().usable == 1


def test_where_kills_are_counted_is_found_once_and_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "membership").write_text("0::/\n")
    (tmp_path / "machine").write_text("oom_kill 0\n")
    (tmp_path / "memory.events").write_text("oom_kill 0\n")
    where = tmp_path, tmp_path / "membership", tmp_path / "machine"
    memory_kills._files.cache_clear()
    before = memory_kills.MemoryKills(*where)
    (tmp_path / "memory.events").write_text("oom_kill 1\n")
    assert memory_kills.MemoryKills(*where).since(before)
    assert memory_kills._files.cache_info().misses == 1
