"""What test_chaos.py starts under torchrun: cases by their seeds. ``rank-R.json`` has the seeds that went as they must;
``error-R.json`` what a rank that is left says of one that was killed or stopped."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from chaos_cases import Case, judge, outcome, undisturbed

from lockstep.errors import RunError
from lockstep.launchers import detection

FATAL = ("kill", "stop", "leave")
SURVIVED = ("fail", "sleep", "compute", "loop", "poll")


def go_on(directory: Path, seeds: list[int], rank: int, size: int) -> None:
    gone_well = []
    for seed in seeds:
        case = Case.draw(seed, (size,), kinds=SURVIVED)
        judge(case, outcome(case, "spmd"))
        undisturbed(case, "spmd")
        gone_well.append(seed)
    (directory / f"rank-{rank}.json").write_text(json.dumps(gone_well))


def end(directory: Path, seed: int, rank: int, size: int) -> None:
    error = outcome(Case.draw(seed, (size,), kinds=FATAL), "spmd")
    assert isinstance(error, RunError)
    (directory / f"error-{rank}.json").write_text(json.dumps([type(error).__name__, error.message]))
    raise error


if __name__ == "__main__":
    environment = detection.detect()
    assert environment
    seeds = [int(s) for s in sys.argv[2:]]
    place = environment.rank, environment.world_size
    if seeds[0] < 1000:
        go_on(Path(sys.argv[1]), seeds, *place)
    else:
        os.environ["TORCH_SHOW_CPP_STACKTRACES"] = "0"
        end(Path(sys.argv[1]), seeds[0], *place)
