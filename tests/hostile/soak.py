"""Right answers, checked on a machine that is busy with something else: none may be called wrong, and few not graded.

    python tests/hostile/soak.py                500 checks, two busy processes for each core
    python tests/hostile/soak.py 40 --busy 1

Each exercise's answers in turn: the first of each, the second of each, and from the beginning again."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, cycle, islice, zip_longest
from pathlib import Path

from lockstep.checks import check_file, exercises

MOST_UNGRADED = 2  # of 500
Answer = tuple[str, Path]  # an exercise's id, and a file


def answers() -> Iterator[Answer]:
    """For ever."""
    by_exercise = [[(e.id, path) for path in sorted(e.right.glob("[!_]*.py"))] for e in exercises()]
    return cycle([one for one in chain(*zip_longest(*by_exercise)) if one])


def checked(number: int) -> Iterator[tuple[Answer, str, str]]:
    """Each answer with its verdict, and what was said."""
    for id, path in islice(answers(), number):
        score = check_file(id, path, keep=False)
        yield (id, path), score.verdict, " ".join(finding.message for finding in score.findings)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many others that compute, and would take all the time there is."""
    others = [multiprocessing.get_context("spawn").Process(target=_compute, daemon=True) for _ in range(processes)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.join()


def _compute() -> None:
    while True:
        sum(range(100_000))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checks", type=int, nargs="?", default=500)
    parser.add_argument("--busy", type=int, default=2, help="processes for each core")
    asked = parser.parse_args()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home, busy(asked.busy * (os.cpu_count() or 1)):
        os.environ["LOCKSTEP_HOME"] = home
        for (id, path), verdict, said in checked(asked.checks):
            verdicts[verdict] += 1
            if verdict != "passed":
                print(f"{verdict}: {id}, {path.name}: {said}", flush=True)
    print(f"{asked.checks} checks: {dict(verdicts)}")
    wrong = asked.checks - verdicts["passed"] - verdicts["ungraded"]
    return 1 if wrong or verdicts["ungraded"] > MOST_UNGRADED else 0


if __name__ == "__main__":
    raise SystemExit(main())
