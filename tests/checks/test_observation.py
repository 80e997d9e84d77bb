"""An observation survives the way to another process as plain data, and is judged there alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import torch
import torch.distributed as dist

from lockstep import checks
from lockstep.checks.observation import load, save
from lockstep.checks.observe import observe, observe_reference
from lockstep.checks.plain import Other, plain


def whole_tensor(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    passing = tensor.contiguous().clone()
    for _ in range(K - 1):
        coming = torch.empty_like(passing)
        sending = dist.isend(passing, group=group, group_dst=(r + 1) % K)
        dist.recv(coming, group=group, group_src=(r - 1) % K)
        sending.wait()
        tensor += coming
        passing = coming
    return tensor


def test_a_saved_observation_is_judged_alike(tmp_path: Path) -> None:
    exercise = checks.find("communication.ring_all_reduce")
    observation = observe(exercise, whole_tensor)
    save(observation, tmp_path)
    again = load(tmp_path)
    assert checks.score_of(exercise, again).to_json() == checks.score_of(exercise, observation).to_json()
    assert checks.score_of(exercise, again).points == 2.5
    assert sorted(p.name for p in tmp_path.iterdir()) == ["observation.json", "tensors.safetensors"]


def test_a_failure_is_saved_too(tmp_path: Path) -> None:
    def circle(tensor, group=None):
        dist.send(tensor.contiguous(), group=group, group_dst=(dist.get_rank(group) + 1) % dist.get_world_size(group))

    exercise = checks.find("communication.mend_ring_of_sends")
    observation = observe(exercise, circle)
    save(observation, tmp_path)
    assert [s.failure for s in load(tmp_path)] == [s.failure for s in observation]
    assert any(s.failure and s.failure.kind == "Deadlock" for s in observation)


def test_what_is_saved_is_json_and_nothing_else(tmp_path: Path) -> None:
    exercise = checks.find("communication.mend_out_of_order_tags")
    save(observe(exercise, lambda first, second, group=None: {"a": first, "f": print}), tmp_path)
    rows = json.loads((tmp_path / "observation.json").read_text())["seen"]
    assert rows[0]["returned"][0]["type"] == "dict"


def test_values_become_plain() -> None:
    assert plain(numpy.float64(1.5)) == 1.5
    assert plain(numpy.array([1, 2])) == [1, 2]
    assert plain((1, None, "a")) == [1, None, "a"]
    assert plain({1: 2}) == Other("dict", "{1: 2}")
    assert plain(torch.ones(2, dtype=torch.complex64)).type == "Tensor"
    nested = plain([[[[[1]]]]])
    assert isinstance(nested[0][0][0], Other)


def test_each_case_has_its_own_part_of_a_shared_run() -> None:
    exercise = checks.find("communication.ring_all_reduce")
    for seen in observe_reference(exercise):
        size = seen.case.size
        assert not seen.trace.of_kind("broadcast")
        assert all(
            seen.trace.sent(r).nbytes > 0 for r in seen.case.members if size > 1 and seen.case.settings["numel"] > size
        )
        assert min((e.start for e in seen.trace), default=0.0) == 0.0
        assert {e.rank for e in seen.trace.communication} <= set(seen.case.members)
