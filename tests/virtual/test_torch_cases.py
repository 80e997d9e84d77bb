"""torch's own cases, on the virtual cluster: whatever passes with gloo on real processes passes here.

Of 115 of them 46 did. Most of the others looked for "gloo:all_reduce" in their profiler, asynchronous and with shapes,
and found "virtual:all_reduce". DDP's logged data named that backend, too, which ``get_backend()`` did not; and nothing
gave up when its time was over. All but one do now."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
import torch
import torch_cases

from lockstep import machines
from lockstep.launch.job import Job
from lockstep.virtual.cluster_process import run_virtual

LIST = tomllib.loads(Path(__file__).with_name("torch_cases.toml").read_text(encoding="utf-8"))
LOADING = 300.0  # seconds of host time for a rank that loads torch's compiler on a busy machine


def outcomes(cases: list[str], ranks: int) -> dict[str, set[str]]:
    """What the ranks say has become of each case."""
    job = Job.pack(torch_cases.on_a_rank, (cases,), {}, ranks, timeout=1800, output_limit=10**8)
    printed = run_virtual(job, machines.find("dgx-a100"), patience=LOADING).printed
    found = defaultdict(list)
    for name, said in re.findall(r"^\[rank \d\] (test_\w+) = (.*)$", printed, re.MULTILINE):
        found[name].append(said)
    assert all(len(said) == ranks for said in found.values())
    return {name: set(said) for name, said in found.items()}


@pytest.mark.slow
@pytest.mark.skipif(not torch.__version__.startswith(LIST["torch"]), reason="the list is of another torch")
@pytest.mark.parametrize("ranks", [4, 8])
def test_what_passes_with_gloo_passes_here(ranks: int) -> None:
    passed = [name for name, said in LIST["gloo"][str(ranks)].items() if said == "passed"]
    found = outcomes(passed, ranks)
    assert list(found) == passed
    otherwise = {name: said for name, said in found.items() if said != {"passed"}}
    assert otherwise.keys() == LIST["otherwise"].keys() & set(passed), otherwise
