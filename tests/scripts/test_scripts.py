"""Programs as people write them run unchanged, and what goes wrong in them is told by their own lines."""

import errno
import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch.distributed.flight_recorder.components.builder import build_db
from torch.distributed.flight_recorder.components.config_manager import JobConfig
from torch.distributed.flight_recorder.components.loader import read_dir

from lockstep import run
from lockstep.cli import main
from lockstep.errors import RankRaised

AS_WRITTEN = Path(__file__).parent / "as_written"
pytestmark = pytest.mark.reads("tests/scripts/as_written/")

PROGRAMS = {
    "ddp_tutorial.py": (("3", "2"), "Training snapshot saved at snapshot.pt"),
    "nano_gpt.py": (("--max_iters=3", "--learning_rate=0.01"), "iter 3: loss"),
    "fsdp2.py": (("--mixed-precision", "--explicit-prefetching"), "[default1]:[rank 1] saved, loss"),
    "mp_spawn.py": ((), "Finished running DDP checkpoint example on rank 1"),
}
Lockstep = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lockstep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lockstep:
    """`lockstep run` in a new folder. ``text``: of the script to be written there."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, text: str = "") -> tuple[int, str, str]:
        if text:
            Path("script.py").write_text(textwrap.dedent(text).lstrip())
        code = main(["run", *map(str, arguments)])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return call


@pytest.mark.parametrize(
    ("ranks", "on"), [(2, "dgx-a100"), (4, "dgx-a100"), pytest.param(2, "processes", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_as_people_write_them(lockstep: Lockstep, name: str, ranks: int, on: str) -> None:
    arguments, told = PROGRAMS[name]
    arguments = (str(ranks),) if name == "mp_spawn.py" else arguments
    code, out, err = lockstep("--ranks", ranks, "--on", on, "--trace", "t.json", AS_WRITTEN / name, *arguments)
    assert code == 0, err
    assert err == ""
    assert told in out
    assert f"{ranks} ranks on " in out
    rows = json.loads(Path("t.json").read_text())["traceEvents"]
    assert {row["tid"] for row in rows if row.get("cat") not in (None, "compute")} == set(range(ranks))


def test_a_training_goes_on_from_its_snapshot(lockstep: Lockstep) -> None:
    """With workers of a DataLoader, which each rank forks. The snapshot has an object of a class of the script."""
    program = AS_WRITTEN / "ddp_tutorial.py"
    assert lockstep("--ranks", 2, "--on", "dgx-a100", program, 1, 1)[0] == 0
    code, out, _ = lockstep("--ranks", 4, "--on", "dgx-a100", program, 2, 1, "--workers", 1)
    assert code == 0
    assert out.count("Loading snapshot") == 4
    assert "Epoch 1 |" in out
    assert "Epoch 0 |" not in out


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
class TestAnErrorInAScript:
    def test_is_told_by_the_scripts_own_lines(self, lockstep: Lockstep, on: str) -> None:
        code, _, err = lockstep(
            "--ranks", 2, "--on", on, "script.py",
            text="""
                import os

                def half(x):
                    return x / (int(os.environ["RANK"]) - 1)

                half(1)
                """,
        )  # fmt: skip
        assert code == 1
        assert "rank 1 raised ZeroDivisionError" in err
        assert "script.py, line 6\n    half(1)\n  script.py, line 4, in half" in err
        assert "Traceback" not in err
        assert "lockstep/" not in err

    def test_in_its_syntax(self, lockstep: Lockstep, on: str) -> None:
        code, _, err = lockstep("--ranks", 2, "--on", on, "script.py", text="x = 1\ndef f(:\n")
        assert code == 1
        assert 'script.py", line 2' in err
        assert "SyntaxError" in err

    def test_sys_exit_says_the_status_and_the_line(self, lockstep: Lockstep, on: str) -> None:
        text = """
            import os, sys
            import torch.distributed as dist
            dist.init_process_group("gloo")
            if dist.get_rank() == 1:
                sys.exit(3)
            dist.barrier()
            """
        code, _, err = lockstep("--ranks", 2, "--on", on, "script.py", text=text)
        assert code == 1
        assert err.startswith("lockstep: rank 1 ended with exit status 3.\n")
        assert "rank 1 ended with exit status 3 at script.py, line 5: sys.exit(3)" in err
        assert "rank 0 waits in barrier on ranks 0, 1 at script.py, line" + " 6" * (on != "processes") in err

    def test_a_race_is_told_in_the_summary(self, lockstep: Lockstep, on: str) -> None:
        text = """
            import torch
            import torch.distributed as dist
            dist.init_process_group("gloo")
            x = torch.zeros(1)
            dist.irecv(x, 0) if dist.get_rank() else dist.send(x, 1)
            """
        code, out, err = lockstep("--ranks", 2, "--on", on, "script.py", text=text)
        assert (code, err) == (0, "")
        assert "A race: Rank 1 never waits for its irecv (script.py, line 5)." in out

    def test_a_deadlock_names_the_lines(self, lockstep: Lockstep, on: str) -> None:
        text = """
            import torch
            import torch.distributed as dist
            dist.init_process_group("gloo")
            dist.recv(torch.zeros(1), 1 - dist.get_rank())
            """
        code, _, err = lockstep("--ranks", 2, "--on", on, "script.py", text=text)
        assert code == 1
        assert err.startswith("lockstep: Deadlock")
        assert "script.py, line 4" in err

    def test_one_that_takes_too_long(self, lockstep: Lockstep, on: str) -> None:
        code, _, err = lockstep(
            "--ranks", 2, "--on", on, "--timeout", 1, "script.py", text="while True: sum(range(1000))"
        )
        assert code == 1
        assert "script.py, line 1" in err


def test_a_thread_that_never_ends_is_said(lockstep: Lockstep) -> None:
    """Python waits for it at the end of a process. It was "rank 0 has not begun"."""
    text = "import threading; threading.Thread(target=threading.Event().wait).start()"
    code, _, err = lockstep("--ranks", 2, "--on", "dgx-a100", "--timeout", 1, "script.py", text=text)
    assert code == 1
    assert "rank 0 waits for threads that it has started" in err


class TestMpSpawn:
    SPAWNS = """
        import os, sys
        import torch.multiprocessing as mp

        def worker(rank, word):
            print(word, rank, os.environ["RANK"])

        if __name__ == "__main__":
            mp.spawn(worker, args=("hello",), nprocs=int(sys.argv[1]), join=len(sys.argv) == 2)
        """

    def test_its_processes_are_the_ranks(self, lockstep: Lockstep) -> None:
        code, out, _ = lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", 2, text=self.SPAWNS)
        assert code == 0
        assert "[default0]:hello 0 0\n" in out
        assert "[default1]:hello 1 1\n" in out

    def test_another_number_is_refused(self, lockstep: Lockstep) -> None:
        code, _, err = lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", 3, text=self.SPAWNS)
        assert code == 1
        assert "mp.spawn(nprocs=3), but this run has --ranks 2" in err
        assert "Start it with --ranks 3." in err
        assert "--ranks 0" not in lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", 0)[2]

    def test_to_go_on_beside_them_is_refused(self, lockstep: Lockstep) -> None:
        code, _, err = lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", 2, "beside", text=self.SPAWNS)
        assert code == 1
        assert "Leave join=False out." in err

    @pytest.mark.parametrize("on", ["dgx-a100", "processes"])
    def test_in_run_it_is_refused(self, on: str) -> None:
        """PyTorch's first tutorial calls it: it started processes which no trace showed."""
        import torch.multiprocessing as mp

        def worker(rank: int) -> None: ...

        with pytest.raises(RankRaised, match=r"(?s)run\(\) starts the ranks: give it `worker`.*ranks=2"):
            run(lambda: mp.spawn(worker, nprocs=2), ranks=2, on=on)


class TestTheCommand:
    SAYS = "import sys; print(sys.argv[1:])"

    def test_what_follows_the_script_is_the_scripts(self, lockstep: Lockstep) -> None:
        args = ("--ranks", "7", "--", "-m", "--on=x", "--help")
        code, out, _ = lockstep("--ranks", 1, "--on", "dgx-a100", "script.py", *args, text=self.SAYS)
        assert code == 0
        assert f"[default0]:{list(args)}" in out

    def test_a_run_without_communication_says_so(self, lockstep: Lockstep) -> None:
        told = "script.py communicated nothing: its 2 ranks ran beside each other."
        assert told in lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", text=self.SAYS)[1]
        assert "communicated nothing" not in lockstep("--ranks", 1, "--on", "dgx-a100", "script.py")[1]

    @pytest.mark.parametrize("on", ["dgx-a100", "processes"])
    def test_what_goes_to_stderr_stays_apart(self, lockstep: Lockstep, on: str) -> None:
        """As with torchrun: progress bars and logging are not in what is saved of stdout."""
        text = "import logging; logging.warning('careful'); print('result')"
        _, out, err = lockstep("--ranks", 1, "--on", on, "script.py", text=text)
        assert out.splitlines()[0] == "[default0]:result"
        assert err == "[default0]:WARNING:root:careful\n"

    def test_the_rules_of_nccl(self, lockstep: Lockstep) -> None:
        """Every rank sends before it receives: NCCL buffers small messages, and gloo does not."""
        text = """
            import torch
            import torch.distributed as dist
            dist.init_process_group("nccl")
            k, n = dist.get_rank(), dist.get_world_size()
            dist.send(torch.ones(1), (k + 1) % n)
            dist.recv(torch.ones(1), (k - 1) % n)
            """
        assert lockstep("--ranks", 2, "--on", "dgx-a100", "--rules", "mpi", "script.py", text=text)[0] == 0
        assert "Deadlock" in lockstep("--ranks", 2, "--on", "dgx-a100", "script.py")[2]

    def test_a_package_that_each_rank_imports_for_itself(self, lockstep: Lockstep) -> None:
        """pytorch/examples' minGPT-ddp: hydra has one configuration for a process, and the second rank failed."""
        text = """
            import cloudpickle
            assert not hasattr(cloudpickle, "begun"), "already begun"
            cloudpickle.begun = True
            """
        assert "already begun" in lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", text=text)[2]
        assert lockstep("--ranks", 2, "--on", "dgx-a100", "--isolate", "cloudpickle", "script.py")[0] == 0

    def test_the_summary(self, lockstep: Lockstep) -> None:
        text = """
            import time, torch
            import torch.distributed as dist
            dist.init_process_group()
            time.sleep(dist.get_rank())
            dist.all_reduce(torch.ones(1000))
            """
        out = lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", text=text)[1]
        assert "2 ranks on dgx-a100: 1e+03 ms, 8,000 bytes handed to communication, " in out
        assert "rank 0 waited longest, 1e+03 ms" in out

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ("missing.py --ranks 2", "There is no file missing.py"),
            ("script.py", "--ranks 4"),
            ("--ranks 2 --on spmd script.py", "started by its launcher"),
            ("--ranks 2 --timeout soon script.py", "no number of seconds"),
            ("--ranks 2 --rules nccl script.py", 'rules="nccl"'),
            ("--ranks 2 --rules ncl --on dgx-a100 script.py", "ncl"),
        ],
    )
    def test_misuse(self, lockstep: Lockstep, arguments: str, told: str) -> None:
        code, out, err = lockstep(*arguments.split(), text=self.SAYS)
        assert (code, out) == (2, "")
        assert told in err
        assert len(err.splitlines()) <= 2


class TestWhatIsKeptOfARunThatFails:
    SCRIPT = """
        import os, time
        import torch, torch.distributed as dist

        dist.init_process_group()
        x = torch.ones(3)
        dist.all_reduce(x)
        if dist.get_rank() != 2:
            dist.all_reduce(x)
        else:
            ENDING
        """

    def ended_by(self, ending: str) -> str:
        return self.SCRIPT.replace("ENDING", ending)

    @pytest.mark.parametrize(
        ("ending", "more", "told"),
        [
            ("dist.recv(x, 0)", ("--on", "dgx-a100"), "Deadlock"),
            ("dist.recv(x, 0)", (), "Deadlock"),
            ("[None for _ in iter(int, 1)]", ("--timeout", 3), "Stuck"),
        ],
    )  # fmt: skip
    def test_torch_s_own_tool_finds_who_stayed_away(
        self, lockstep: Lockstep, ending: str, more: tuple[object, ...], told: str
    ) -> None:
        """The first all-reduce was complete; of the second one rank 2 is missing."""
        args = ("--ranks", 3, *more, "--dumps", "new/dumps", "--trace", "t.json", "script.py")
        code, _, err = lockstep(*args, text=self.ended_by(ending))
        assert code == 1
        assert err.startswith(f"lockstep: {told}")
        lines = err.splitlines()
        assert lines[-1] == "python -m torch.distributed.flight_recorder.fr_trace new/dumps"
        assert lines[-2] == "new/dumps: the dumps of a flight recorder, for"
        assert lines[-3] == "t.json: open it with `lockstep show t.json`, or on https://ui.perfetto.dev"
        assert ("nccl:all_reduce", {2}) in suspects("new/dumps")
        assert main(["show", "t.json"]) == 0

    def test_the_variables_of_torch_s_recorder_count(self, lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path to which each rank adds its number; and what an earlier run of more ranks has left is removed."""
        monkeypatch.setenv("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "dumps/nccl_trace_rank_")
        script = self.ended_by("dist.recv(x, 0)")
        assert lockstep("--ranks", 4, "--on", "dgx-a100", "script.py", text=script)[0] == 1
        code, _, err = lockstep("--ranks", 3, "--on", "dgx-a100", "script.py")
        assert code == 1
        assert sorted(p.name for p in Path("dumps").iterdir()) == [f"nccl_trace_rank_{r}" for r in range(3)]
        assert err.splitlines()[-1].endswith("fr_trace dumps -p nccl_trace_rank_")
        assert ("nccl:all_reduce", {2}) in suspects("dumps", "-p", "nccl_trace_rank_")

    def test_without_being_asked_nothing_is_written(self, lockstep: Lockstep) -> None:
        code, _, err = lockstep("--ranks", 3, "--on", "dgx-a100", "script.py", text=self.ended_by("dist.recv(x, 0)"))
        assert (code, "fr_trace" in err) == (1, False)
        assert [p.name for p in Path().iterdir() if p.is_file()] == ["script.py"]

    def test_a_run_that_ends_well_leaves_no_dumps(self, lockstep: Lockstep) -> None:
        script = "import torch.distributed as dist\ndist.init_process_group()\ndist.barrier()"
        code, _, _ = lockstep("--ranks", 2, "--on", "dgx-a100", "--dumps", "d", "script.py", text=script)
        assert (code, Path("d").exists()) == (0, False)

    def test_who_never_communicated_has_nothing_to_dump(self, lockstep: Lockstep) -> None:
        code, _, err = lockstep("--ranks", 2, "--on", "dgx-a100", "--dumps", "d", "script.py", text="1 / 0")
        assert (code, Path("d").exists()) == (1, False)
        assert err.splitlines()[-1] == "No rank has communicated, so a flight recorder has nothing to dump."

    def test_a_full_disk_does_not_hide_why_the_run_failed(
        self, lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("lockstep.cli.kept.dump", full)
        script = self.ended_by("dist.recv(x, 0)")
        code, _, err = lockstep("--ranks", 3, "--on", "dgx-a100", "--dumps", "d", "script.py", text=script)
        assert code == 1
        assert err.startswith("lockstep: Deadlock")
        assert err.splitlines()[-1] == "What there was of the run could not be written: No space left on device."

    def test_a_folder_that_cannot_be_is_told_before_the_run(self, lockstep: Lockstep) -> None:
        code, out, err = lockstep("--ranks", 2, "--dumps", "script.py", "script.py", text="print('ran')")
        assert (code, out) == (2, "")
        assert err.startswith("lockstep: --dumps: dumps cannot be written to script.py.")


def suspects(folder: str, *more: str) -> list[tuple[str, set[int]]]:
    """The operations that torch's analysis finds incomplete, and which ranks it misses."""
    args: Any = JobConfig().parse_args([folder, *more])
    details, version = read_dir(args)
    return [
        (c.collective_name, c.missing_ranks) for c in build_db(details, args, version).collectives if c.missing_ranks
    ]


def test_strict_makes_a_race_an_error(lockstep: Lockstep) -> None:
    """Without it the same script ends well, and its summary says so."""
    text = """
        import torch, torch.distributed as dist

        dist.init_process_group()
        x = torch.ones(3)
        work = dist.all_reduce(x, async_op=True)
        mean = x / 2
        work.wait()
        """
    code, out, _ = lockstep("--ranks", 2, "--on", "dgx-a100", "script.py", text=text)
    assert code == 0
    assert "A race: " in out
    code, _, err = lockstep("--ranks", 2, "--on", "dgx-a100", "--strict", "script.py")
    assert code == 1
    assert err.startswith("lockstep: Rank 0 uses a tensor at script.py, line 6 before the all_reduce")
    code, _, err = lockstep("--ranks", 2, "--strict", "script.py")
    assert code == 2
    assert "strict=True is for the virtual cluster" in err


def test_whether_there_are_kernels_for_a_gpu_can_be_asked(lockstep: Lockstep) -> None:
    """transformers looks for flash_attn before it imports any model: that was refused like an import, and no model of
    theirs could be made."""
    text = """
        from importlib.util import find_spec

        assert [find_spec(name) for name in ("flash_attn", "triton")] == [None, None]
        try:
            import flash_attn
        except ModuleNotFoundError as error:
            print("refused:", error)
        """
    more = ("--on", "dgx-a100", "--pretend-cuda", "script.py")
    code, out, err = lockstep("--ranks", 1, *more, text=text)
    assert code == 0, err
    assert "refused: flash_attn brings kernels for a GPU" in out
