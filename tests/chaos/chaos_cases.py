"""A case of chaos, drawn from a seed, carried out in a world, and judged."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from chaos_harms import HARMLESS, HARMS, Harm
from chaos_programs import Script, expected, program, script, turns

from lockstep import run
from lockstep.errors import Deadlock, RankDied, RankRaised, RunError, Stuck
from lockstep.worlds import Result

TIMEOUT = 2.0  # seconds for a run that would be endless
PATIENT = 100.0  # for one that ends, on a busy machine


@dataclass(frozen=True)
class Case:
    """One run: a program, and what is to happen in it."""

    script: Script
    ranks: int
    harm: Harm

    @classmethod
    def draw(cls, seed: int, sizes: Sequence[int], apart: bool = True, kinds: Sequence[str] = tuple(HARMS)) -> Case:
        """``apart``: ranks are processes of their own, so that one can strike another."""
        draw = random.Random(seed)
        size = draw.choice(sizes)
        steps = script(draw, size, draw.randint(4, 12))
        kind, rank = kinds[seed % len(kinds)], draw.randrange(size)
        agent = draw.randrange(size) if apart and kind in ("kill", "stop") else rank
        turn = draw.randint(1, turns(steps, agent, size) or 1)
        return cls(steps, size, Harm(kind, rank, agent, turn, seconds=draw.choice((0.01, 0.2, 1.6))))

    @property
    def endless(self) -> bool:
        return self.harm.kind in ("loop", "poll")

    @property
    def harmless(self) -> bool:
        """Also when the agent makes no call at which it could strike."""
        return self.harm.kind in HARMLESS or turns(self.script, self.harm.agent, self.ranks) == 0

    def __str__(self) -> str:
        told = ", ".join(f"{s.kind}{s.ranks}" for s in self.script)
        return f"{self.harm} of {self.ranks} ranks in: {told}"


def outcome(case: Case, on: str) -> Result | RunError:
    limit = TIMEOUT if case.endless else PATIENT
    if case.harm.kind == "stop" and on == "spmd":  # nobody watches from outside: the others' time has to be up
        limit = 6 * TIMEOUT
    try:
        return run(program, case.script, case.harm, ranks=case.ranks, on=on, timeout=limit)
    except RunError as error:
        return error


def judge(case: Case, found: Result | RunError) -> None:
    """The harmed rank is named, or the values are right."""
    if case.harmless or (not isinstance(found, RunError) and struck_after_its_end(case)):
        assert not isinstance(found, RunError), f"{case}\n{found}"
        assert found.values == expected(case.script, case.ranks), str(case)
        return
    assert isinstance(found, RunError), f"{case}\nended well: {found}"
    told = f"{case}\n{type(found).__name__}: {found}"
    kind, sentence = expectation(case.harm)
    assert isinstance(found, kind), told
    assert sentence in found.message, told
    if case.endless:
        (mine,) = [s for s in found.states if s.rank == case.harm.rank]
        assert f", in {case.harm.kind}" in mine.where, told
        assert ("recv(src=" in mine.operation) == (case.harm.kind == "poll"), told


def struck_after_its_end(case: Case) -> bool:
    """The victim may have returned before another rank struck it, and its value is there."""
    return case.harm.agent != case.harm.rank


def expectation(harm: Harm) -> tuple[type[RunError] | tuple[type[RunError], ...], str]:
    rank = f"rank {harm.rank}"
    return {
        "kill": (RankDied, f"{rank} "),
        "stop": (Stuck, f"Stuck: {rank} is stopped"),
        "leave": (RankDied, f"{rank} "),
        "fail": (RankRaised, f"{rank} raised ValueError: in the middle of it"),
        "loop": (Stuck, f"Stuck: {rank} has done no operation"),
        "poll": ((Stuck, Deadlock), f"{rank} "),
    }[harm.kind]


def undisturbed(case: Case, on: str) -> None:
    """The same program with nothing in its way."""
    found = run(program, case.script, ranks=case.ranks, on=on, timeout=PATIENT)
    assert found.values == expected(case.script, case.ranks), str(case)
