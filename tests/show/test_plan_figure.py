"""The explorer's states are the planner's answers, and what it does not answer says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockstep.cli import main
from lockstep.errors import UsageError
from lockstep.planner import clusters, models, stacks
from lockstep.planner.answers import fixed_from
from lockstep.planner.answers import plan as answer
from lockstep.planner.memory import KINDS
from lockstep.planner.plans import RECOMPUTE, Job
from lockstep.planner.search import search
from lockstep.show import plan
from lockstep.show.plan import PlanExplorer
from lockstep.show.plan_fields import AXES, FEW, LOOKED_AT, TIMES, Field, Stops, field_of, fixed, packed, values

SHORT = Stops(tp=(1, 4), pp=(1, 4), micro_batch=(1,))


def job(model: str = "llama3-70b", cluster: str = "dgx-h100 x 64 gpus", batch: int = 512) -> Job:
    return Job(models.find(model), clusters.find(cluster), batch)


def field(of: Job, stops: Stops = SHORT) -> Field:
    return field_of(of, stacks.find(None, of.cluster), stops)


@pytest.mark.parametrize(
    "of", [job(), job("deepseek-v3", "gb200-nvl72 x 256 gpus", 1024), job("llama3-405b", "dgx-a100 x 64 gpus")]
)
def test_each_plan_is_what_the_command_answers(of: Job) -> None:
    """`lockstep plan --fix` with the sliders' values; and the best one of the whole search is among them."""
    made = field(of)
    for found in made.found:
        [told] = search(of, made.stack, fixed(found.plan), top=1).best
        assert told == found
    assert made.found[made.best] == search(of, made.stack, top=1).best[0]
    assert made.best_fits == (of.model.name != "llama3-405b")


def test_a_column_holds_the_planner_s_numbers_rounded_to_what_is_shown() -> None:
    made = field(job())
    columns = packed(made)
    for i, found in enumerate(made.found):
        told = answer(made.job, made.stack, {**fixed(found.plan), "vp": found.plan.vp}).to_json()["plans"][0]
        assert columns["time"][i] == pytest.approx(told["step_time"], rel=5e-4)
        assert columns["memory"][i] * 1e9 == pytest.approx(told["memory"], rel=5e-3)
        assert bool(columns["fits"][i]) == told["fits"]
        assert columns["low"] * found.step_time == pytest.approx(told["step_time_low"])
        assert columns["ideal"] / found.step_time == pytest.approx(told["mfu"])
        for kind, column in zip(KINDS, columns["kinds"], strict=True):
            assert column[i] * 1e9 == pytest.approx(told["memory_by_kind"][kind], rel=5e-3)
        seconds = dict(zip(TIMES, (column[i] for column in columns["parts"]), strict=True))
        assert seconds["bubble"] == pytest.approx(told["bubble"] * told["step_time"], rel=5e-3)
        for axis, exposed in told["communication"].items():
            assert seconds[axis] == pytest.approx(exposed, rel=5e-3)
        assert found.step_time - sum(seconds.values()) == pytest.approx(found.computing, rel=5e-3)


def test_a_rule_is_the_planner_s_sentence_for_the_values_that_break_it() -> None:
    of = job()
    rules = field(of).rules
    assert rules[(("tp", 16),)] == "tp=16 does not divide 8 KV heads."
    assert rules[(("ep", 8),)] == "ep=8 needs experts, and this model has none."
    for condition, told in rules.items():
        at: dict[str, Any] = {"tp": 1, "pp": 1, "cp": 1, "ep": 1, "micro_batch": 1} | dict(condition)
        if "dp" not in dict(condition):
            with pytest.raises(UsageError) as refused:
                search(of, stacks.find(None, of.cluster), at)
            assert refused.value.message == told


@pytest.mark.parametrize("model", ["llama3-8b", "gpt-oss-120b"])
def test_one_move_from_the_best_plan_is_always_answered(model: str) -> None:
    """Llama 3 8B's best plan has cp=2, which the usual stops have not: wherever one went from it, nothing was known."""
    made = field(job(model, "dgx-h100 x 64 gpus", 1024))
    best, known = made.found[made.best].plan, {values(found.plan) for found in made.found}
    for axis, choices in LOOKED_AT.items():
        for choice in choices:
            at = dict(zip(AXES, values(best), strict=True)) | {axis: choice}
            at["dp"] = max(1, 64 // (at["tp"] * at["pp"] * at["cp"]))
            refused = [told for rule, told in made.rules.items() if dict(rule).items() <= at.items()]
            assert tuple(at.values()) in known or refused


def test_the_command_beside_a_plan_gives_that_plan() -> None:
    made = plan("llama3-8b", "dgx-a100 x 2", batch=64, seq=4096)
    [asked] = made.asked
    assert asked.command == (
        "lockstep plan --model llama3-8b --cluster 'dgx-a100 x 2' --batch 64 --seq 4096 --precision bf16"
    )
    assert asked.field is not None
    found = asked.field.found[asked.field.best]
    text = ",".join(f"{axis}={value}" for axis, value in fixed(found.plan).items())
    assert fixed_from(text) == fixed(found.plan)
    assert found.plan._asdict()["micro_batch"] == values(found.plan)[AXES.index("micro_batch")]


def test_one_job_is_planned_in_each_precision_of_its_gpus_and_weighs_little() -> None:
    made = plan("llama3-8b", "dgx-h100 x 1", batch=64)
    assert [a.precision for a in made.asked if a.field] == ["bf16", "fp8", "mxfp8"]
    state = made.state()
    assert [len(job["time"]) for job in state["jobs"]] == [len(a.field.found) for a in made.asked if a.field]
    assert len(made.html()) < 400_000


@pytest.mark.slow
def test_a_precision_that_gpus_have_not_and_one_that_was_not_computed_are_told_apart() -> None:
    made = plan("gpt3", batch=1024)
    by = {a.stops[1:]: a for a in made.asked}
    assert by["dgx-a100", 64, "nvfp4"].refused.endswith("has no NVFP4.")
    assert by["gb200-nvl72", 64, "fp8"].refused == ""
    assert by["gb200-nvl72", 64, "fp8"].field is None
    assert by["gb200-nvl72", 64, "nvfp4"].field is not None
    assert made.first.stops == ("gpt3-175b", "dgx-h100", 256, "bf16")


def test_a_model_that_fits_nowhere_says_so() -> None:
    of = job("llama3-405b", "dgx-a100 x 64 gpus")
    made = field(of)
    assert not any(packed(made)["fits"])
    figure = plan("llama3-405b", "dgx-a100 x 8")
    assert "no plan fits; the leanest. It needs" in figure.caption()
    assert "leanest" in figure.svg()


def test_the_command_writes_the_explorer_of_its_job(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["plan", "--model", "llama3-8b", "--cluster", "dgx-a100 x 1", "--batch", "16", "--seq", "4096"]
    assert main([*asked, "--page", str(tmp_path / "plans.html")]) == 0
    assert (tmp_path / "plans.html").read_text() == plan("llama3-8b", "dgx-a100 x 1", 16, 4096).page()
    assert "llama3-8b" in capsys.readouterr().out
    assert main([*asked, "--page", str(tmp_path / "nowhere" / "plans.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "bad",
    [{"model": "lama3-70b"}, {"cluster": "dgx-h10 x 2"}, {"batch": 0}, {"seq": True}, {"stack": "bridge"},
     {"model": "gpt3", "cluster": "dgx-a100 x 8", "batch": 7, "stack": "fusd"}],
    ids=str,
)  # fmt: skip
def test_what_the_command_refuses_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        plan(**{"model": "llama3-8b", "cluster": "dgx-a100 x 8"} | bad)


@pytest.mark.slow
def test_without_arguments_it_weighs_a_few_hundred_kilobytes() -> None:
    made = plan()
    assert len(made.html()) < 400_000
    assert len({a.model for a in made.asked}) == 6
    assert {a.gpus for a in made.asked} == {64, 256, 1024}
    assert set(LOOKED_AT) == set(AXES) - {"dp"}
    assert tuple(made.state()["recompute"]) == RECOMPUTE
    assert FEW.tp == (1, 2, 4, 8)
    assert isinstance(made, PlanExplorer)
