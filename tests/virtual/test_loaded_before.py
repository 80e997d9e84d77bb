"""What the server of ranks has loaded before a simulation begins tells virtual time all the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lockstep import run
from lockstep.forking import starter
from lockstep.without_waiting.problems import Digits, Recorded, cluster

PACKAGE = Path(__file__).parents[2] / "pkg" / "lockstep"
pytestmark = pytest.mark.reads("pkg/")
ROUTED = {"time": {"perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic_ns", "sleep"}, "os": {"environ"}}
ROUTED |= {"random": {"random", "randint", "choice", "shuffle", "sample", "uniform"}}


def test_a_module_that_was_loaded_before_tells_the_simulations_time() -> None:
    """Once a check had loaded it, the digits' module held on to the host's clock: records were in host seconds."""
    starter.warm_up(("lockstep.without_waiting.problems",))

    def record() -> list[float]:
        problem = Digits()
        gradient = Recorded(problem.of(0, 2))
        for step in range(3):
            gradient(problem.start(), step)
        return [seconds for seconds, _ in gradient.seen]

    assert run(record, ranks=2, on=cluster()).values[0] == pytest.approx([0.0, 1e-3, 2e-3], abs=1e-9)


@pytest.mark.slow
def test_no_module_binds_by_name_what_a_simulation_routes_to_its_ranks() -> None:
    bound = []
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name in ("wrong", "right"):
            continue  # learners' files, which each rank loads anew
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in ROUTED:
                bound += [(path.name, name.name) for name in node.names if name.name in ROUTED[node.module]]
    assert bound == []
