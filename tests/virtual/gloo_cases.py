"""torch's own cases on real processes with gloo: ``python tests/virtual/gloo_cases.py 4 CASE...`` prints a line of
``torch_cases.toml`` for each, or for all of them. Every case forks so many processes, which takes minutes.

Cases that need what this machine lacks are skipped, with torch's own reason."""

from __future__ import annotations

import json
import os
import sys
import unittest

from torch import multiprocessing

os.environ.setdefault("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT", "100")

import torch_cases


def main(ranks: int, asked: list[str]) -> None:
    cases = torch_cases.module(ranks)

    class Gloo(cases.TestDistBackend, cases.DistributedTest._DistTestBase):  # type: ignore[misc]
        def setUp(self) -> None:
            super().setUp()
            self._start_processes(multiprocessing.get_context("fork").Process)

    for name in asked or torch_cases.names(cases):
        print(f"{name} = {json.dumps(outcome(Gloo(name)))}", flush=True)


def outcome(case: unittest.TestCase) -> str:
    result = unittest.TestResult()
    case.run(result)
    if result.skipped:
        return f"skipped: {result.skipped[0][1]}"
    wrong = result.errors + result.failures
    return f"failed: {wrong[0][1].strip().splitlines()[-1]}" if wrong else "passed"


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
