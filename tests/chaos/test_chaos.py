"""A random rank is harmed at a random call of a random program, in every world: the run must end, with the right
values or with an error that names that rank; and the very next run must be right.

Everything follows from the seed, which is in the test's name: ``pytest "tests/chaos/test_chaos.py::test_virtual[17]"``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from chaos_harms import HARMLESS, HARMS, Harm
from chaos_programs import Script, expected, program, script, turns

from lockstep import run
from lockstep.errors import Deadlock, RankDied, RankRaised, RunError, Stuck
from lockstep.worlds import Result

TIMEOUT = 2.0  # seconds for a run that would be endless


@dataclass(frozen=True)
class Case:
    """One run: a program, and what is to happen in it."""

    script: Script
    ranks: int
    harm: Harm

    @classmethod
    def draw(cls, seed: int, most: int, apart: bool) -> Case:
        """``apart``: ranks are processes of their own, so that one can strike another."""
        draw = random.Random(seed)
        size = draw.randint(2, most)
        steps = script(draw, size, draw.randint(4, 12))
        kind, rank = list(HARMS)[seed % len(HARMS)], draw.randrange(size)
        agent = draw.randrange(size) if apart and kind in ("kill", "stop") else rank
        turn = draw.randint(1, turns(steps, agent, size) or 1)
        return cls(steps, size, Harm(kind, rank, agent, turn, seconds=draw.choice((0.01, 0.2, 1.6))))

    def __str__(self) -> str:
        told = ", ".join(f"{s.kind}{s.ranks}" for s in self.script)
        return f"{self.harm} of {self.ranks} ranks in: {told}"


def outcome(case: Case, on: str, timeout: float = TIMEOUT) -> Result | RunError:
    """``timeout`` is for runs that would be endless; others may take their time on a busy machine."""
    limit = timeout if case.harm.kind in ("loop", "poll") else 60.0
    try:
        return run(program, case.script, case.harm, ranks=case.ranks, on=on, timeout=limit)
    except RunError as error:
        return error


def judge(case: Case, found: Result | RunError) -> None:
    """Named, and the right one; or the right values."""
    harm, rank = case.harm, case.harm.rank
    if harm.kind in HARMLESS or not happens(case):
        assert not isinstance(found, RunError), f"{case}\n{found}"
        assert found.values == expected(case.script, case.ranks), str(case)
        return
    assert isinstance(found, RunError), f"{case}\nended well: {found}"
    told = f"{case}\n{type(found).__name__}: {found}"
    expect = {
        "kill": (RankDied, f"rank {rank} was killed by SIGKILL"),
        "stop": (Stuck, f"Stuck: rank {rank} is stopped"),
        "leave": (RankDied, f"rank {rank} "),
        "fail": (RankRaised, f"rank {rank} raised ValueError: in the middle of it"),
        "loop": (Stuck, f"Stuck: rank {rank} has done no operation"),
        "poll": ((Stuck, Deadlock), f"rank {rank} "),
    }
    kind, sentence = expect[harm.kind]
    assert isinstance(found, kind), told
    assert sentence in found.message, told
    if harm.kind in ("loop", "poll"):
        (mine,) = [s for s in found.standings if s.rank == rank]
        assert f", in {harm.kind}" in mine.where, told
    if harm.kind == "poll":
        assert "recv(src=" in mine.operation, told


def happens(case: Case) -> bool:
    """A rank that makes no call cannot strike."""
    return turns(case.script, case.harm.agent, case.ranks) > 0


def then_a_good_run(case: Case, on: str) -> None:
    assert run(program, case.script, ranks=case.ranks, on=on).values == expected(case.script, case.ranks), str(case)


def test_a_seed_always_gives_the_same_case() -> None:
    assert str(Case.draw(5, 4, True)) == str(Case.draw(5, 4, True))
    assert len({str(Case.draw(s, 4, True)) for s in range(100)}) == 100


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(32))
def test_processes(seed: int) -> None:
    case = Case.draw(seed, 4, apart=True)
    judge(case, outcome(case, "processes"))
    then_a_good_run(case, "processes")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(40))
def test_virtual(seed: int) -> None:
    case = Case.draw(seed, 12, apart=False)
    judge(case, outcome(case, "dgx-a100"))
    then_a_good_run(case, "dgx-a100")
