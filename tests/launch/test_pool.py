"""Real processes: what a rank finds, what comes back, and what a run leaves behind."""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pool_cases as cases
import pytest
import server_children
import torch

from lockstep.forking import starter
from lockstep.launch.job import Job
from lockstep.launch.processes import run_processes

PKG = Path(__file__).resolve().parents[2] / "pkg"


def run(fn, *args, ranks=2, **options):
    return run_processes(Job.pack(fn, args, {}, ranks, **options))


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_a_rank_knows_its_place(ranks):
    values = run(cases.environment, ranks=ranks).values
    assert values == [([r, r, ranks, ranks], r, ranks, "gloo") for r in range(ranks)]


def test_random_numbers_are_seeded_by_rank():
    first, again, other = (run(cases.draw, seed=s).values for s in (7, 7, 8))
    assert first == again
    assert first[1] == other[0]
    assert first[0] != first[1]
    torch.manual_seed(7)
    assert first[0][0] == torch.rand(1).item()


def test_arguments_are_copied_to_each_rank():
    tensor, table = torch.zeros(2), {}
    values = run(cases.change, tensor, table).values
    assert tensor.tolist() == [0, 0]
    assert table == {}
    assert [v[0].tolist() for v in values] == [[1, 1], [2, 2]]
    assert [v[1] for v in values] == [{"rank": 0}, {"rank": 1}]


def test_what_comes_back_is_plain_data():
    first, second = run(cases.several_kinds).values
    assert first["view"].untyped_storage().nbytes() == 12
    assert first["history"].item() == 4
    assert not first["history"].requires_grad
    assert (first["pair"].left, second["pair"].left) == (0, 1)
    assert type(first["functional"]) is torch.Tensor
    assert first["functional"].tolist() == [2, 2]
    assert first["bfloat"].dtype == torch.bfloat16
    assert first["sparse"].to_dense().tolist() == [[1, 0], [0, 1]]
    assert not first["view"].is_shared()


@pytest.mark.slow
def test_closures_lambdas_and_classes_of_main_travel(tmp_path):
    """As from a notebook, where everything lives in __main__."""
    script = tmp_path / "notebook.py"
    script.write_text(
        "import dataclasses, torch.distributed as dist\n"
        "from lockstep.launch.job import Job\n"
        "from lockstep.launch.processes import run_processes\n"
        "@dataclasses.dataclass\n"
        "class Mine:\n"
        "    rank: int\n"
        "factor = 10\n"
        "def work():\n"
        "    got = [None] * dist.get_world_size()\n"
        "    dist.all_gather_object(got, Mine(dist.get_rank() * factor))\n"
        "    return got\n"
        "values = run_processes(Job.pack(work, (), {}, 2)).values\n"
        "assert isinstance(values[0][1], Mine)\n"
        "print(values[0])\n"
        "print(run_processes(Job.pack(lambda: factor + dist.get_rank(), (), {}, 2)).values)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(PKG)}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[Mine(rank=0), Mine(rank=10)]", "[10, 11]"]


def test_objects_of_a_module_beside_the_notebook():
    assert run(cases.objects_of_my_own).values == [[0, 1], [0, 1]]


def test_prints_are_tagged_by_rank(capfd):
    outcome = run(cases.talk)
    lines = outcome.printed.splitlines()
    for r in (0, 1):
        mine = [line for line in lines if line.startswith(f"[rank {r}] ")]
        assert [line.removeprefix(f"[rank {r}] ") for line in mine] == [
            f"round 0 of {r}",
            f"round 1 of {r}",
            "to stderr",
            "no end",
        ]
    out, err = capfd.readouterr()
    assert out == outcome.printed
    assert err == ""


@pytest.mark.slow
@pytest.mark.parametrize("case", [cases.print_much, cases.print_one_long_line])
def test_a_hundred_megabytes_of_prints_are_cut(case, capfd):
    outcome = run(case, 100_000_000, output_limit=5000)
    assert outcome.values == ["done", "done"]
    assert len(outcome.printed) < 6000
    assert outcome.printed.count("more was printed than is shown") == 1
    assert outcome.printed.endswith("left out)\n")
    assert all(len(line) < 6000 for line in outcome.printed.splitlines())


@pytest.mark.slow
def test_what_c_code_writes_stays_out_of_the_notebook(capfd):
    assert run(cases.write_below_python).printed == ""
    assert capfd.readouterr() == ("", "")


def test_warnings_of_torch_are_not_the_learners(capfd):
    printed = run(cases.warn, ranks=1).printed
    assert "UserWarning: mine" in printed
    assert "torch" not in printed


def test_peak_memory():
    """1,000 floats, their view for nothing, 1,000 more, and the sum."""
    peaks = run(cases.memory).peak_memory
    assert all(8000 <= p <= 8008 for p in peaks)


def test_arguments_count_as_memory():
    assert all(p >= 8000 for p in run(cases.change, torch.zeros(2000), {}).peak_memory)


def test_a_fresh_group_every_time():
    """Nothing of one call is left in the next: a message that was sent too much, a seed, a number of ranks."""
    for ranks in (1, 3, 2):
        assert run(cases.environment, ranks=ranks).values[0][2] == ranks


def test_ranks_may_fork():
    assert run(cases.forks).values == ["ok", "ok"]


@pytest.mark.slow
def test_a_large_value_and_a_large_message():
    first, second, third = run(cases.send_large, 30, ranks=3).values
    assert first.numel() == second.numel() == third.numel() == 7_500_000


def test_one_thread_computes_on_a_rank():
    assert [v[0] for v in run(cases.threads_of_torch).values] == [1, 1]


def test_without_a_record():
    outcome = run(cases.environment, record=False)
    assert len(outcome.trace) == 0
    assert len(outcome.values) == 2


def test_the_trace_says_where_it_comes_from():
    outcome = run(cases.objects_of_my_own)
    assert outcome.trace.world == "processes"
    assert outcome.trace.ranks == 2
    assert 0 < outcome.trace.time <= outcome.time < 60


def test_two_runs_at_once():
    found = {}

    def one(ranks):
        found[ranks] = run(cases.environment, ranks=ranks).values

    threads = [threading.Thread(target=one, args=(n,)) for n in (2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert [len(found[n]) for n in (2, 3)] == [2, 3]
    assert all(v[2] == n for n in (2, 3) for v in found[n])


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    """In a folder for temporary files of its own: in /tmp stood those of other runs."""
    run(cases.nothing, ranks=1)  # the server, which stays
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    files = len(os.listdir("/proc/self/fd"))
    run(cases.nothing, ranks=3)
    assert server_children.ranks() == []
    assert len(os.listdir("/proc/self/fd")) == files
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_spawned_ranks(monkeypatch):
    """What serves on macOS, tried here."""
    fresh = starter.Starter()
    monkeypatch.setattr(starter, "_starter", fresh)
    monkeypatch.setenv("LOCKSTEP_START", "spawn")
    for _ in range(2):
        assert [v[1] for v in run(cases.environment).values] == [0, 1]
    fresh.close()
