"""Which tests run on ranks, and what of pytest they find there."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_under_test import Runner

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.reads("pkg/lockstep/testing/")


def test_a_test_runs_on_each_number_of_ranks(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=[2, 4])
def test_sum():
    x = torch.ones(1)
    dist.all_reduce(x)
    assert x.item() == dist.get_world_size()
""",
        "-v",
        passed=2,
    )
    assert "test_sum[ranks=2] PASSED" in told
    assert "test_sum[ranks=4] PASSED" in told


def test_a_test_without_the_mark_runs_here(ran: Runner) -> None:
    ran("def test_here():\n    assert not dist.is_initialized()\n", passed=1)


def test_fixtures_travel_by_value(ran: Runner, pytester: pytest.Pytester) -> None:
    """A rank changes its own copy, and the fixture's teardown sees what it has made."""
    pytester.makeconftest(
        "import pytest\nclass Made:\n    def __init__(self, n): self.n = n\n"
        "@pytest.fixture\ndef made(ranks):\n    one = Made(ranks)\n    yield one\n    assert one.n == ranks\n"
    )
    ran(
        """
@on_ranks(ranks=3)
def test_made(made):
    assert made.n == dist.get_world_size()
    made.n = dist.get_rank()
""",
        passed=1,
    )


def test_tmp_path_is_shared(ran: Runner) -> None:
    ran(
        """
@on_ranks(ranks=2)
def test_files(tmp_path):
    (tmp_path / str(dist.get_rank())).write_text("mine")
    dist.barrier()
    assert len(list(tmp_path.iterdir())) == 2
""",
        passed=1,
    )


def test_monkeypatch_is_a_ranks_own(ran: Runner, pytester: pytest.Pytester) -> None:
    """What a rank patches in a module of its own is seen by that rank alone, for as long as it runs."""
    pytester.makepyfile(mine="NUMBER = 0\n")
    ran(
        """
@pytest.fixture
def outside(monkeypatch):
    monkeypatch.setenv("GIVEN", "outside")

@on_ranks(ranks=2)
def test_patched(outside, monkeypatch):
    import mine
    if dist.get_rank() == 0:
        monkeypatch.setattr(mine, "NUMBER", 7)
    dist.barrier()
    assert mine.NUMBER == (7 if dist.get_rank() == 0 else 0)
    assert os.environ["GIVEN"] == "outside"

def test_afterwards():
    import mine
    assert mine.NUMBER == 0 and "GIVEN" not in os.environ
""",
        passed=2,
    )


def test_capsys_on_a_rank_and_outside(ran: Runner) -> None:
    ran(
        """
@on_ranks(ranks=2)
def test_prints(capsys):
    print("rank", dist.get_rank())
    print("wrong", file=sys.stderr)
    dist.barrier()
    out, err = capsys.readouterr()
    assert out == f"rank {dist.get_rank()}\\n" and err == "wrong\\n"
    assert capsys.readouterr().out == ""
    def after(capsys):
        assert sorted(capsys.readouterr().out.split("\\n")) == ["", *["[rank 0] rank 0", "[rank 0] wrong"],
            *["[rank 1] rank 1", "[rank 1] wrong"]]
    if dist.get_rank() == 0:
        return after
""",
        passed=1,
    )


def test_caplog_on_a_rank_and_outside(ran: Runner) -> None:
    ran(
        """
@on_ranks(ranks=2)
def test_logs(caplog):
    logging.getLogger("mine").warning("rank %d", dist.get_rank())
    dist.barrier()
    assert caplog.messages == [f"rank {dist.get_rank()}"]
    def after(caplog):
        assert sorted(caplog.messages) == ["[rank 0] rank 0", "[rank 1] rank 1"]
        assert sorted(r.rank for r in caplog.records) == [0, 1]
    if dist.get_rank() == 0:
        return after
""",
        passed=1,
    )


def test_what_a_failing_rank_logged_is_told(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=2)
def test_logs():
    logging.getLogger("mine").warning("before the end")
    dist.barrier()
    assert False
""",
        failed=1,
    )
    assert "Captured log call" in told
    assert "[rank 1] before the end" in told


def test_parameters_classes_and_modules(ran: Runner) -> None:
    """The closest mark wins, and leaves to those further out what it doesn't say."""
    told = ran(
        """
pytestmark = on_ranks(ranks=2, seed=5)

@on_ranks(ranks=[1, 3])
class TestIt:
    def setup_method(self):
        self.made = 4

    @pytest.mark.parametrize("n", [1, 2])
    def test_method(self, n):
        assert (self.made, torch.initial_seed()) == (4, 5 + dist.get_rank())

def test_function():
    assert dist.get_world_size() == 2
""",
        "-v",
        passed=5,
    )
    assert "test_method[ranks=3-2] PASSED" in told
    assert "test_function[ranks=2] PASSED" in told


def test_a_survey_of_this_machine_is_no_output_of_a_test(
    ran: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first test that simulated this machine found five lines in its capsys that it had not printed."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    ran(
        """
@pytest.mark.lockstep(ranks=1)
def test_silent(capsys):
    def after(trace, capsys):
        assert trace.cluster == "this machine"
        assert capsys.readouterr() == ("", "")
    return after
""",
        passed=1,
    )


def test_tests_are_chosen_by_their_number_of_ranks(ran: Runner) -> None:
    """-k takes no =, and so cannot name [ranks=4]. A test that is not marked runs as ever."""
    text = """
@on_ranks(ranks=[1, 2, 3])
def test_marked():
    assert dist.get_world_size() in (1, 3)

def test_plain():
    pass
"""
    told = ran(text, "--lockstep-ranks", "1,3", "-v", passed=3, deselected=1)
    assert "test_marked[ranks=3] PASSED" in told
    assert "ranks=2" not in told


@pytest.mark.parametrize("wanted", ["four", "0", "2;4"])
def test_ranks_that_are_no_numbers(ran: Runner, pytester: pytest.Pytester, wanted: str) -> None:
    pytester.makepyfile("def test_plain(): pass")
    done = pytester.runpytest_subprocess("--lockstep-ranks", wanted)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*--lockstep-ranks {wanted}: write numbers, as in --lockstep-ranks 2,4."])
