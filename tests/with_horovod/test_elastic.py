"""Elastic Horovod for real: workers are killed and added at a step, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

import psutil
import pytest
import torch
from torch import Tensor

from lockstep import run
from lockstep.errors import RankRaised, TimeLimit
from lockstep.with_horovod.elastic import Account, Pool, run_elastic
from lockstep.with_horovod.elastic_training import elastic_state
from lockstep.with_horovod.elastic_worker import Script

pytestmark = pytest.mark.horovod

Batches = list[tuple[Tensor, Tensor]]


def drawn(steps: int) -> Batches:
    dice = torch.Generator().manual_seed(5)
    return [(torch.randn(12, 3, generator=dice), torch.randn(12, 1, generator=dice)) for _ in range(steps)]


def train(batches: Batches, every: int) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    trained = elastic_state(model, optimizer, batches, every)
    return [v for p in trained.parameters() for v in p.detach().flatten().tolist()]


def serially(batches: Batches) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return [v for p in model.parameters() for v in p.detach().flatten().tolist()]


def steps_of(account: Account, worker: int) -> list[tuple[int, int, int]]:
    return [(e["step"], e["rank"], e["size"]) for e in account.of("step") if e["worker"] == worker]


def test_a_killed_and_an_added_worker_change_no_parameter() -> None:
    batches = drawn(8)
    found = run_elastic(train, batches, 2, workers=2, kill={0: 3}, add=5)
    assert sorted(found.values) == [1, 2]
    for parameters in found.values.values():
        assert parameters == pytest.approx(serially(batches), abs=1e-6)
    assert [(e["worker"], e["step"]) for e in found.of("killed")] == [(0, 3)]
    assert [e["worker"] for e in found.of("failed")] == [1]
    assert steps_of(found, 0) == [(s, 0, 2) for s in range(4)]
    alone, joined = [(s, 0, 1) for s in (2, 3, 4, 5)], [(6, 0, 2), (7, 0, 2)]
    assert steps_of(found, 1) == [(s, 1, 2) for s in range(4)] + alone + joined
    assert steps_of(found, 2) == [(6, 1, 2), (7, 1, 2)]
    assert found.noise == ""


def test_three_survivors_learn_of_a_kill_at_once() -> None:
    """Horovod 0.28 leaves the old connections open when it is initialised anew: a rank that waited for a survivor, and
    not for the dead one, stood there until gloo's 30 seconds were over."""
    batches = drawn(4)
    found = run_elastic(train, batches, 2, workers=4, kill={2: 3}, timeout=25)
    assert sorted(found.values) == [0, 1, 3]
    assert sorted(e["worker"] for e in found.of("reset")) == [0, 1, 3]


def test_hosts_come_in_order_though_horovod_orders_a_set() -> None:
    pool = Pool(Script(3), 1.0)
    assert [list(pool.find_available_hosts_and_slots()) for _ in range(4)] == [
        ["0"],
        ["0", "1"],
        *[["0", "1", "2"]] * 2,
    ]
    found = run_elastic(lambda batches: None, [], workers=3)
    assert {e["worker"]: e["rank"] for e in found.of("started")} == {0: 0, 1: 1, 2: 2}


def test_what_a_worker_raises_is_told_with_its_line() -> None:
    def stumble(batches: Any) -> None:
        import horovod.torch as hvd

        if hvd.rank() == 1:
            raise ValueError("no such thing")
        threading.Event().wait()

    with pytest.raises(RankRaised, match=r"(?s)worker 1 raised ValueError: no such thing.*in stumble") as caught:
        run_elastic(stumble, [], workers=2)
    assert caught.value.exit is not None
    assert caught.value.exit.exception == "ValueError"


def test_a_hang_ends_with_the_line_of_each_worker() -> None:
    def wait(batches: Any) -> None:
        threading.Event().wait()

    with pytest.raises(TimeLimit, match=r"(?s)worker 0 stood at .*in wait.*worker 1 stood at .*in wait"):
        run_elastic(wait, [], workers=2, timeout=2)


@pytest.mark.slow
def test_who_is_left_behind_is_not_waited_for() -> None:
    """One that waits for a rank that has returned would wait for the time limit."""

    def part(batches: Any) -> None:
        import horovod.torch as hvd

        if hvd.rank() == 1:
            threading.Event().wait()

    with pytest.raises(TimeLimit, match="worker 1 stood at a place that is not known, when the others had returned"):
        run_elastic(part, [], workers=2, timeout=60)


@pytest.mark.slow
def test_what_workers_print_arrives_with_their_number(capfd: pytest.CaptureFixture[str]) -> None:
    def talk(batches: Any) -> None:
        print("one\ntwo")

    run_elastic(talk, [], workers=2)
    out, err = capfd.readouterr()
    lines = Counter(line.partition("[worker")[2] for line in out.splitlines())
    assert {" 0] one", " 1] two"} <= set(lines)
    assert err == ""


def left() -> tuple[list[int], list[str]]:
    """In a rank: the processes and threads that a job has left there."""
    from lockstep.with_horovod.elastic import elastic_job

    before = threading.active_count()
    with contextlib.suppress(RankRaised):
        elastic_job(lambda worker: worker.at(0) or 1 / 0, Script(2, {1: 0}), 10.0)
    elastic_job(lambda worker: worker.at(0), Script(2, {1: 0}), 10.0)
    names = [t.name for t in threading.enumerate()][before:]
    return [p.pid for p in psutil.Process().children()], names


def test_nothing_is_left_in_the_process_of_a_job() -> None:
    assert run(left, ranks=1, on="processes").values == [([], [])]


PROGRAM = """
import threading
from lockstep.with_horovod.elastic import run_elastic

def wait(batches):
    import os
    print(os.getpid(), flush=True)
    threading.Event().wait()

run_elastic(wait, [], workers=2, timeout=50)
"""


def test_ctrl_c_leaves_no_worker() -> None:
    program = subprocess.Popen(
        [sys.executable, "-uc", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    workers = [int(program.stdout.readline().split()[-1]) for _ in range(2)]
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=30)
    until = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, workers))


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


SCRIPT = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import torch
import horovod.torch as hvd
from test_elastic import drawn, serially, elastic_state

class Kills(list):
    def __getitem__(self, step):
        if step == 5 and not os.path.exists("killed") and hvd.rank() == 1:
            open("killed", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(step)

hvd.init()
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
elastic_state(model, optimizer, Kills(drawn(8)), 2)
held = [v for p in model.parameters() for v in p.detach().flatten().tolist()]
off = max(abs(a - b) for a, b in zip(held, serially(drawn(8))))
print("off by", off < 1e-6, "of", hvd.size(), flush=True)
"""


@pytest.mark.slow
def test_horovodrun_does_the_same(tmp_path: Any) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.format(tests=os.path.dirname(__file__)))
    hosts = tmp_path / "hosts"
    hosts.write_text("#!/bin/sh\necho localhost:1\necho 127.0.0.1:1\n")
    hosts.chmod(0o755)
    options = ["-np", "2", "--min-np", "1", "--max-np", "2", "--host-discovery-script", str(hosts)]
    options += ["--network-interface", "lo", "--elastic-timeout", "60"]
    command = [sys.executable, "-m", "horovod.runner.launch", *options, sys.executable, "train.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert "off by True of 1" in found.stdout, found.stdout + found.stderr
    assert (tmp_path / "killed").exists()
