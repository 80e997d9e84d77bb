"""Was a process killed for want of memory? The kernel's counters, on machines of other kinds."""

from pathlib import Path

import pytest

from lockstep.comm.memory_kills import MemoryKills

V1 = "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n"
V2 = "low 0\nhigh 0\nmax 7\noom 3\noom_kill {}\noom_group_kill 0\n"
KINDS = {
    "v2": ("0::/job\n", "job/memory.events", V2),
    "v2 in a container": ("0::/../other\n", "memory.events", V2),
    "v1": ("9:name=systemd:/\n4:memory:/job\n", "memory/job/memory.oom_control", V1),
    "v1 in a container": ("4:memory:/docker/ab12\n", "memory/memory.oom_control", V1),
}


def counted(at: Path, kind: str, group: int | None, machine: int | None) -> MemoryKills:
    membership, name, text = KINDS[kind]
    (at / "membership").write_text(membership)
    file = at / "groups" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    for counter, content, number in (
        (file, text, group),
        (at / "vmstat", "pgfault 12\noom_kill {}\nswap_ra 0\n", machine),
    ):
        counter.unlink(missing_ok=True)
        if number is not None:
            counter.write_text(content.format(number))
    return MemoryKills(at / "groups", at / "membership", at / "vmstat")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_in_the_own_group_is_known(kind: str, tmp_path: Path) -> None:
    assert counted(tmp_path, kind, 3, 5).since(counted(tmp_path, kind, 2, 4)) is True


@pytest.mark.parametrize("kind", KINDS)
def test_that_nothing_was_killed_is_known(kind: str, tmp_path: Path) -> None:
    assert counted(tmp_path, kind, 2, 4).since(counted(tmp_path, kind, 2, 4)) is False
    assert counted(tmp_path, kind, None, 4).since(counted(tmp_path, kind, None, 4)) is False


@pytest.mark.parametrize("kind", KINDS)
def test_elsewhere_or_not_counted_is_unknown(kind: str, tmp_path: Path) -> None:
    assert counted(tmp_path, kind, 2, 5).since(counted(tmp_path, kind, 2, 4)) is None
    assert counted(tmp_path, kind, 2, None).since(counted(tmp_path, kind, 2, None)) is None
    assert MemoryKills(tmp_path / "no", tmp_path / "no", tmp_path / "no").since(MemoryKills()) is None
