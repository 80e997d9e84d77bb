"""A program for torchrun: check the course's references on the launcher's ranks. Rank 0 writes what came of each.

torchrun --nproc-per-node 2 references_of_ranks.py OUT.json [EXERCISE …]        all exercises by default
"""

import json
import sys
from pathlib import Path

import torch.distributed as dist

from lockstep.checks import check_reference
from lockstep.checks.exercise import exercises


def checked(id: str) -> dict[str, object]:
    score = check_reference(id)
    carried = sorted({event.backend for event in score.trace.communication}) if score.trace else []
    told = "" if score.passed else " ".join(finding.message for finding in score.findings)
    return {"exercise": id, "verdict": score.verdict, "backends": carried, "told": told}


def main() -> None:
    out, *ids = sys.argv[1:]
    found = [checked(id) for id in ids or [exercise.id for exercise in exercises()]]
    if dist.get_rank() == 0:
        Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
